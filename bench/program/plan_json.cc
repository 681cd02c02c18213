#include "bench/program/plan_json.h"

#include "kernels/contract/verify.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

json problem_json(const kernels::Operation& operation, const kernels::Problem& problem) {
  json inputs = json::array();
  for (const kernels::TensorShape& input : operation.inputs(problem)) {
    inputs.push_back(
        {{"name", input.name}, {"rows", input.rows}, {"cols", input.cols}, {"scale", input.scale}});
  }
  return {{"name", kernels::problem_name(problem)},
          {"dtype", kernels::dtype_name(problem.dtype)},
          {"batch", problem.batch},
          {"seq", problem.seq},
          {"dim", problem.dim},
          {"hidden", problem.hidden},
          {"rows", problem.rows()},
          {"error_bound", kernels::error_bound(problem.dtype)},
          {"inputs", std::move(inputs)}};
}

json work_json(const std::vector<SweptOperation>& work) {
  json list = json::array();
  for (const SweptOperation& swept : work) {
    json problems = json::array();
    for (const kernels::Problem& problem : swept.problems) {
      problems.push_back(problem_json(*swept.operation, problem));
    }
    list.push_back({{"operation", swept.operation->name}, {"problems", std::move(problems)}});
  }
  return list;
}

}  // namespace

json plan_json(const std::vector<SweptOperation>& work, const InvocationInfo& info,
               const EnvironmentProbe& probe) {
  return {{"fusegate", fusegate_context(info, probe)}, {"work", work_json(work)}};
}

}  // namespace fusegate::bench
