// geglu_mlp/fused_few_rows: the MLP of a decode step, for M up to 64. Two kernels that stream
// weights, gate and up with GeGLU, then down; launched early where the device can, so that the
// weights of one are on their way while the other ends.
#include <fmt/format.h>

#include "kernels/cuda/choosing/streamed_products.h"
#include "kernels/cuda/few_rows/few_rows_plan.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/implementations/fused_epilogue.h"

namespace fusegate::kernels {
namespace {

// Those kernels and no other, whatever else may be faster.
PreparedKernel prepare(Device& any_device, const Problem& problem, Inputs in, const Tensor& out) {
  auto& device = static_cast<CudaDevice&>(any_device);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, problem.rows(), problem.hidden, problem.dtype);
  const std::vector<Contestant> gate_up = streamed_geglu(device, in[0], in[1], in[2], h);
  const std::vector<Contestant> down = streamed_matmul(device, h, in[3], out);
  const Stage gate_up_work = gate_up_geglu_work(in[0], in[1], in[2], h);
  const Stage down_work = matmul_work("down_proj", h, in[3], out);
  const PairResult best =
      contest_of_pairs(device, problem_name(problem), {gate_up_work.name, gate_up},
                       {down_work.name, down}, in[0], h, out);
  const auto add = [&](Stage stage, const ContestResult& result, const Contestant& contestant) {
    stage.choice = result.choice;
    stage.launch = contestant.launch;
    kernel.stages.push_back(std::move(stage));
  };
  add(gate_up_work, best.first, gate_up[best.first.taken]);
  add(down_work, best.second, down[best.second.taken]);
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
    .expects = {{.stages = {expected_own_matmul("gate_up_geglu"), expected_own_matmul("down_proj")},
                 .calls = expected_own_launches(2)}},
}};

}  // namespace
}  // namespace fusegate::kernels
