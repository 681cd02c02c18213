// geglu_mlp/fused_few_rows: the MLP of a decode step, for M up to 64. Two kernels that stream
// weights, gate and up with GeGLU, then down; launched early where the device can, so that the
// weights of one are on their way while the other ends.
#include <fmt/format.h>

#include "kernels/cuda/few_rows_plan.h"
#include "kernels/cuda/fused_epilogue.h"
#include "kernels/cuda/streamed_products.h"

namespace fusegate {
namespace {

// Those kernels and no other, measured one by one.
PreparedKernel prepare(Device& any_device, const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  const auto add = [&](Stage stage, const std::vector<Contestant>& contestants, const Tensor& x,
                       const Tensor& to) {
    const std::string work = fmt::format("streamed {} {}", stage.name, problem_name(problem));
    const ContestResult result = contest(device, work, contestants, x, to);
    stage.choice = result.choice;
    stage.launch = contestants[result.taken].launch;
    kernel.stages.push_back(std::move(stage));
  };
  add(gate_up_geglu_work(in[0], in[1], in[2], h), streamed_geglu(device, in[0], in[1], in[2], h),
      in[0], h);
  add(matmul_work("down_proj", h, in[3], out), streamed_matmul(device, h, in[3], out), h, out);
  return kernel;
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
    .prepare = &prepare,
    .refuses = &refuses,
}};

}  // namespace
}  // namespace fusegate
