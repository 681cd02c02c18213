#include "ci/report/why_json.h"

#include "ci/console/json_number.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

json stages_json(const baselines::StageTimes& times) {
  json stages = json::array();
  const auto add = [&](const json& stage, const json& kernels, const json& memory_operations,
                       const json& sum_ns, double own_ns) {
    stages.push_back({{"stage", stage},
                      {"kernels", kernels},
                      {"memory_operations", memory_operations},
                      {"sum_ns", sum_ns},
                      {"own_ns", json_number(own_ns)},
                      {"share", json_number(times.share(own_ns))}});
  };
  for (const baselines::StageTime& stage : times.stages) {
    add(stage.stage, stage.kernels, stage.memory_operations, json_number(stage.sum_ns),
        stage.own_ns);
  }
  add(nullptr, nullptr, nullptr, nullptr, times.gap_ns);
  return stages;
}

json rate_json(const MeasuredRate& rate) {
  return {{"value", json_number(rate.value)}, {"benchmark", rate.benchmark}};
}

json ratio_json(const RatioPoint& point) {
  return {{"rows", point.rows}, {"ratio", json_number(point.ratio)}};
}

json crossover_json(const Crossover& crossover) {
  json points = json::array();
  for (const RatioPoint& point : crossover.points) points.push_back(ratio_json(point));
  json crossings = json::array();
  for (const Crossing& crossing : crossover.crossings) {
    crossings.push_back({{"rows", json_number(crossing.rows)},
                         {"before", ratio_json(crossing.before)},
                         {"after", ratio_json(crossing.after)}});
  }
  return {{"operation", crossover.operation},
          {"dtype", crossover.dtype},
          {"dim", crossover.dim},
          {"hidden", crossover.hidden},
          {"implementation", crossover.implementation},
          {"against", crossover.against},
          {"points", points},
          {"crossings", crossings},
          {"text", crossover_text(crossover)}};
}

}  // namespace

json profiles_json(const baselines::Run& run) {
  json profiles = json::array();
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (!series.stage_times && !series.expectation) continue;
    profiles.push_back(
        {{"benchmark", series.name},
         {"stages", series.stage_times ? stages_json(*series.stage_times) : json(nullptr)},
         {"expectation",
          series.expectation ? baselines::expectation_json(*series.expectation) : json(nullptr)}});
  }
  return profiles;
}

json ceilings_json(const FloorRates& rates) {
  json gemm = json::object();
  for (const auto& [dtype, rate] : rates.gemm_tflops) gemm[dtype] = rate_json(rate);
  return {{"gemm_tflops", gemm},
          {"copy_gbps", rates.copy_gbps ? rate_json(*rates.copy_gbps) : json(nullptr)}};
}

json crossovers_json(const std::vector<Crossover>& crossovers) {
  json all = json::array();
  for (const Crossover& one : crossovers) all.push_back(crossover_json(one));
  return all;
}

}  // namespace fusegate::ci
