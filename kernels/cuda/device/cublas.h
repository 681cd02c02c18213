// FUSEGATE_CUDA for calls of cuBLAS and cublasLt.
#pragma once

#include <cublasLt.h>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {

[[noreturn]] void throw_cuda_error(cublasStatus_t status, const char* call, const char* file,
                                   const char* function);

}  // namespace fusegate::kernels
