// packed_pointwise of a gated MLP: gate and up as one matmul with N = 2 x hidden, then activation
// and mul in one kernel, then down; the matmuls' algorithms are those that measure fastest.
//
// One matmul needs one weight, [2 x hidden, dim], gate's rows above up's. prepare copies the
// operation's two into it, untimed, as loading a model would; that takes another 2 x hidden x dim
// elements of memory.
#include "kernels/activations/activations.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"

namespace fusegate::kernels {
namespace {

Tensor stacked(PreparedKernel& kernel, CudaDevice& device, const Tensor& top,
               const Tensor& bottom) {
  const Tensor both =
      kernel.intermediate(device, {top.rows() + bottom.rows(), top.cols()}, top.dtype);
  const auto copy = [&](const Tensor& from, std::size_t offset) {
    FUSEGATE_CUDA(cudaMemcpyAsync(static_cast<std::byte*>(both.data) + offset, from.data,
                                  from.bytes(), cudaMemcpyDeviceToDevice, device.stream()));
  };
  copy(top, 0);
  copy(bottom, top.bytes());
  return both;
}

PreparedKernel prepare(const Activation& activation, Device& device, const Problem& problem,
                       Inputs in, const Tensor& out) {
  return packed_gated_mlp(activation, static_cast<CudaDevice&>(device), problem, in, out);
}

const ImplementationRegistration registered(kActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp(),
      .name = "packed_pointwise",
      .device = "cuda",
      .dtypes = {Dtype::kBf16, Dtype::kFp16},
      .prepare = std::bind_front(&prepare, activation),
      .expects = {expected_packed_mlp(activation)},
  };
});

}  // namespace

PreparedKernel packed_gated_mlp(const Activation& activation, CudaDevice& device,
                                const LadderProblem& problem, Inputs in, const Tensor& out) {
  CudaStages stages(device, MatmulChoice::kTuned);
  PreparedKernel kernel;
  const Tensor w_gate_up = stacked(kernel, device, in[1], in[2]);
  const auto take = [&](std::int64_t cols) {
    return kernel.intermediate(device, {problem.rows(), cols}, problem.dtype);
  };
  const Tensor gu = take(2 * problem.hidden), h = take(problem.hidden);
  kernel.stages.push_back(stages.matmul(kPackedGateUp, in[0], w_gate_up, nullptr, gu));
  kernel.stages.push_back(stages.packed_gate(activation, gu, h));
  kernel.stages.push_back(stages.matmul("down_proj", h, in[3], nullptr, out));
  return kernel;
}

}  // namespace fusegate::kernels
