#include "kernels/cuda/cuda_stages.h"

#include <memory>
#include <utility>

#include "kernels/cuda/lt_matmul.h"
#include "kernels/cuda/lt_tuning.h"
#include "kernels/cuda/pointwise.h"

namespace fusegate {

Stage CudaStages::matmul(std::string name, const Tensor& x, const Tensor& w, const Tensor* bias,
                         const Tensor& out) {
  Stage stage = matmul_work(std::move(name), x, w, out);
  if (bias != nullptr) {
    stage.flops += static_cast<double>(out.count());
    stage.min_bytes += static_cast<double>(bias->bytes());
  }
  const auto product = std::make_shared<LtMatmul>(
      device_, LtMatmulShape{.m = out.rows,
                             .n = out.cols,
                             .k = x.cols,
                             .type = cuda_data_type(out.dtype),
                             .bias = bias != nullptr ? bias->data : nullptr});
  stage.choice =
      choice_ == MatmulChoice::kTuned ? tune(device_, *product, x, w, out) : product->algorithm();
  stage.launch = [product, x, w, out] { product->enqueue(x.data, w.data, out.data); };
  return stage;
}

Stage CudaStages::bias_add(std::string name, const Tensor& x, const Tensor& bias,
                           const Tensor& out) {
  Stage stage = pointwise_work(std::move(name), 1, {&x, &bias}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_bias_add(x, bias, out, stream); };
  return stage;
}

Stage CudaStages::gelu(std::string name, const Tensor& x, const Tensor& out) {
  Stage stage = pointwise_work(std::move(name), kGeluFlops, {&x}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_gelu(x, out, stream); };
  return stage;
}

Stage CudaStages::mul(std::string name, const Tensor& a, const Tensor& b, const Tensor& out) {
  Stage stage = pointwise_work(std::move(name), 1, {&a, &b}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_mul(a, b, out, stream); };
  return stage;
}

Stage CudaStages::gelu_mul(std::string name, const Tensor& g, const Tensor& u, const Tensor& out) {
  Stage stage = pointwise_work(std::move(name), kGeluFlops + 1, {&g, &u}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_gelu_mul(g, u, out, stream); };
  return stage;
}

Stage CudaStages::packed_gelu_mul(std::string name, const Tensor& gu, const Tensor& out) {
  Stage stage = pointwise_work(std::move(name), kGeluFlops + 1, {&gu}, out);
  stage.launch = [=, stream = device_.stream()] { enqueue_packed_gelu_mul(gu, out, stream); };
  return stage;
}

}  // namespace fusegate
