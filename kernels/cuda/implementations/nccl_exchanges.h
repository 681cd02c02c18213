// What ranks exchange by NCCL (device/nccl.h).
#pragma once

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {

// out may be summand.
Stage nccl_all_reduce(CudaDevice& device, const Tensor& summand, const Tensor& out);
Stage nccl_all_gather(CudaDevice& device, const Tensor& part, const Tensor& whole);
Stage nccl_reduce_scatter(CudaDevice& device, const Tensor& summand, const Tensor& part);

}  // namespace fusegate::kernels
