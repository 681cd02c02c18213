// geglu_mlp/fused_few_rows: the MLP of a decode step, for M up to 64. Two kernels that stream
// weights, gate and up with GeGLU, then down; launched early where the device can, so that the
// weights of one are on their way while the other ends.
#include <fmt/format.h>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/few_rows_gemm.h"
#include "kernels/cuda/fused_epilogue.h"

namespace fusegate {
namespace {

FewRowsPlan plan(const CudaDevice& device, const Tensor& x, const Tensor& out, int weights) {
  return plan_few_rows({.rows = x.rows, .cols = out.cols, .k = x.cols, .weights = weights},
                       device.properties().multiProcessorCount);
}

Stage gate_up_geglu(const CudaDevice& device, const Tensor& x, const Tensor& w_gate,
                    const Tensor& w_up, const Tensor& h) {
  Stage stage = gate_up_geglu_work(x, w_gate, w_up, h);
  const FewRowsPlan made = plan(device, x, h, 2);
  stage.choice = plan_text(made);
  stage.launch = [=, stream = device.stream()] {
    enqueue_few_rows_geglu(made, x, w_gate, w_up, h, stream);
  };
  return stage;
}

Stage down_proj(const CudaDevice& device, const Tensor& h, const Tensor& w, const Tensor& out) {
  Stage stage = matmul_work("down_proj", h, w, out);
  const FewRowsPlan made = plan(device, h, out, 1);
  stage.choice = plan_text(made);
  stage.launch = [=, stream = device.stream()] {
    enqueue_few_rows_matmul(made, h, w, out, stream);
  };
  return stage;
}

std::string refuses(const Device&, const Problem& problem) {
  if (problem.rows() <= kMostFewRows) return "";
  return fmt::format("batch x seq is {}, and it is for {} rows at most", problem.rows(),
                     kMostFewRows);
}

const ImplementationRegistration registered{{
    .operation = "geglu_mlp",
    .name = "fused_few_rows",
    .device = "cuda",
    .dtypes = {Dtype::kBf16, Dtype::kFp16},
    .alignment = kFusedEpilogueAlignment,
    .prepare = &prepare_fused_few_rows,
    .refuses = &refuses,
}};

}  // namespace

PreparedKernel prepare_fused_few_rows(Device& any_device, const Problem& problem, Inputs in,
                                      const Tensor& out) {
  const auto& device = static_cast<CudaDevice&>(any_device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(any_device, problem.rows(), problem.hidden, problem.dtype);
  kernel.stages.push_back(gate_up_geglu(device, in[0], in[1], in[2], h));
  kernel.stages.push_back(down_proj(device, h, in[3], out));
  return kernel;
}

}  // namespace fusegate
