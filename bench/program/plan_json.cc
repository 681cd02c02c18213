#include "bench/program/plan_json.h"

#include "kernels/contract/verify.h"

namespace fusegate::bench {
namespace {

using nlohmann::json;

json tensor_json(const kernels::TensorSpec& spec) {
  return {{"name", spec.name}, {"shape", spec.shape}, {"dtype", kernels::dtype_name(*spec.dtype)}};
}

json fill_json(const kernels::Fill& fill) {
  switch (fill.kind) {
    case kernels::Fill::Kind::kUniform:
      return {{"kind", "uniform"}, {"scale", fill.scale}, {"center", fill.center}};
    case kernels::Fill::Kind::kNormal:
      return {{"kind", "normal"}, {"deviation", fill.scale}, {"mean", fill.center}};
    case kernels::Fill::Kind::kConstant:
      return {{"kind", "constant"}, {"value", fill.center}};
    case kernels::Fill::Kind::kIntegers:
      return {{"kind", "integers"}, {"low", fill.low}, {"high", fill.high}};
    default:
      return {{"kind", "function"}};
  }
}

json problem_json(const kernels::Operation& operation, const kernels::Problem& problem) {
  json inputs = json::array();
  for (const kernels::TensorSpec& input : kernels::input_specs(operation, problem)) {
    inputs.push_back(tensor_json(input));
    inputs.back()["fill"] = fill_json(input.fill);
    if (input.is_weight) inputs.back()["is_weight"] = true;
    if (input.is_exact) inputs.back()["is_exact"] = true;
  }
  json outputs = json::array();
  for (const kernels::TensorSpec& output : kernels::output_specs(operation, problem)) {
    outputs.push_back(tensor_json(output));
    outputs.back()["tolerance"] = output.tolerance.value_or(kernels::error_bound(*output.dtype));
    if (!output.in_place_of.empty()) outputs.back()["in_place_of"] = output.in_place_of;
  }
  json result{{"name", kernels::problem_name(problem)},
              {"dtype", kernels::dtype_name(problem.dtype)},
              {"axes", json::object()},
              {"error_bound", kernels::error_bound(problem.dtype)},
              {"inputs", std::move(inputs)},
              {"outputs", std::move(outputs)}};
  for (const kernels::Axis& axis : problem.axes) {
    result["axes"][axis.name] = axis.text.empty() ? json(axis.size) : json(axis.text);
  }
  return result;
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

json plan_json(const Plan& measured, const std::vector<SweptOperation>& work,
               const ProcessInfo& info, const EnvironmentProbe& probe) {
  json benchmarks = json::array();
  for (const PlannedBenchmark& benchmark : measured.benchmarks) {
    benchmarks.push_back(benchmark.name());
  }
  return {{"fusegate", fusegate_context(info, probe)},
          {"benchmarks", std::move(benchmarks)},
          {"work", work_json(work)}};
}

}  // namespace fusegate::bench
