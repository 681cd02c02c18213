#include "baselines/launches/stage_times.h"

#include <algorithm>

#include "baselines/launches/largest_group.h"

namespace fusegate::baselines {
namespace {

StageTime& stage_of(StageTimes& times, const std::string& name) {
  const auto found = std::ranges::find(times.stages, name, &StageTime::stage);
  if (found != times.stages.end()) return *found;
  times.stages.push_back({.stage = name});
  return times.stages.back();
}

bool launched_alike(const StageTimes& a, const StageTimes& b) {
  return std::ranges::equal(a.stages, b.stages, [](const StageTime& left, const StageTime& right) {
    return left.stage == right.stage && left.kernels == right.kernels &&
           left.memory_operations == right.memory_operations;
  });
}

}  // namespace

StageTimes stage_times(const CallProfile& profile) {
  StageTimes times;
  const std::vector<GpuWork> all = gpu_work(profile);
  if (all.empty()) return times;
  const double start_ns = all.front().span->start_ns;
  double covered_ns = start_ns;  // until when something ran
  for (const GpuWork& work : all) {
    StageTime& stage = stage_of(times, work.span->stage);
    ++(work.kernel ? stage.kernels : stage.memory_operations);
    stage.sum_ns += work.span->duration_ns;
    times.gap_ns += std::max(0.0, work.span->start_ns - covered_ns);
    covered_ns = std::max(covered_ns, work.span->start_ns);
    stage.own_ns += std::max(0.0, work.span->end_ns() - covered_ns);
    covered_ns = std::max(covered_ns, work.span->end_ns());
  }
  times.span_ns = covered_ns - start_ns;
  return times;
}

StageTimes median_stage_times(const std::vector<StageTimes>& processes) {
  const std::vector<const StageTimes*> group = largest_group(processes, launched_alike);
  StageTimes result = *group.front();
  result.processes = static_cast<int>(group.size());
  result.span_ns = median_over(group, [](const StageTimes& one) { return one.span_ns; });
  result.gap_ns = median_over(group, [](const StageTimes& one) { return one.gap_ns; });
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    StageTime& stage = result.stages[i];
    stage.sum_ns = median_over(group, [i](const StageTimes& one) { return one.stages[i].sum_ns; });
    stage.own_ns = median_over(group, [i](const StageTimes& one) { return one.stages[i].own_ns; });
  }
  return result;
}

}  // namespace fusegate::baselines
