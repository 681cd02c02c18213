// control_gemm/cublas: cuBLAS's plain GEMM with its default algorithm.
#include <cublas_v2.h>

#include "kernels/contract/work.h"
#include "kernels/cuda/device/cublas.h"
#include "kernels/cuda/device/cublas_device.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

// cuBLAS counts columns first: it computes out^T [n, m] = w [n, k] x^T [k, m], and w as it lies is
// the transposed operand.
void enqueue(cublasHandle_t cublas, const Tensor& x, const Tensor& w, const Tensor& out) {
  const float one = 1, zero = 0;
  const cudaDataType_t type = cuda_data_type(out.dtype);
  FUSEGATE_CUDA(cublasGemmEx_64(cublas, CUBLAS_OP_T, CUBLAS_OP_N, out.cols(), out.rows(), x.cols(),
                                &one, w.data, type, w.cols(), x.data, type, x.cols(), &zero,
                                out.data, type, out.cols(), CUBLAS_COMPUTE_32F,
                                CUBLAS_GEMM_DEFAULT));
}

PreparedKernel prepare(Device& device, const Problem&, Inputs in, const Tensor& out) {
  Stage stage = matmul_work("matmul", in[0], in[1], out);
  stage.launch = [x = in[0], w = in[1], out, cublas = static_cast<CublasDevice&>(device).cublas()] {
    enqueue(cublas, x, w, out);
  };
  return {.stages = {stage}};
}

const ImplementationRegistration registered{{
    .operation = "control_gemm",
    .name = "cublas",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .prepare = &prepare,
    .expects = {{.stages = {expected_cublas_matmul("matmul")}}},
}};

}  // namespace
}  // namespace fusegate::kernels
