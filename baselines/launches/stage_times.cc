#include "baselines/launches/stage_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

struct Work {
  const ProfileSpan* span;
  bool is_kernel;
};

std::vector<Work> in_order(const CallProfile& profile) {
  std::vector<Work> all;
  for (const LaunchedKernel& kernel : profile.kernels) all.push_back({&kernel.span, true});
  for (const LaunchedMemoryOperation& operation : profile.memory_operations) {
    all.push_back({&operation.span, false});
  }
  std::ranges::stable_sort(all, {}, [](const Work& work) { return work.span->start_ns; });
  return all;
}

StageTime& stage_of(StageTimes& times, const std::string& name) {
  const auto found = std::ranges::find(times.stages, name, &StageTime::stage);
  if (found != times.stages.end()) return *found;
  times.stages.push_back({.stage = name});
  return times.stages.back();
}

// Stages with the number of what each launched.
using Shape = std::vector<std::tuple<std::string, int, int>>;

Shape shape_of(const StageTimes& times) {
  Shape shape;
  for (const StageTime& stage : times.stages) {
    shape.emplace_back(stage.stage, stage.kernels, stage.memory_operations);
  }
  return shape;
}

std::vector<const StageTimes*> largest_group(const std::vector<StageTimes>& processes) {
  std::map<Shape, std::vector<const StageTimes*>> groups;
  for (const StageTimes& one : processes) groups[shape_of(one)].push_back(&one);
  const std::vector<const StageTimes*>* largest = nullptr;
  for (const StageTimes& one : processes) {
    const auto& group = groups.at(shape_of(one));
    if (largest == nullptr || group.size() > largest->size()) largest = &group;
  }
  return *largest;
}

template <typename Get>
double median_of(const std::vector<const StageTimes*>& group, const Get& get) {
  std::vector<double> values;
  for (const StageTimes* one : group) values.push_back(get(*one));
  return median(std::move(values));
}

}  // namespace

StageTimes stage_times(const CallProfile& profile) {
  StageTimes times;
  const std::vector<Work> all = in_order(profile);
  if (all.empty()) return times;
  const double start_ns = all.front().span->start_ns;
  double covered_ns = start_ns;  // until when something ran
  for (const Work& work : all) {
    StageTime& stage = stage_of(times, work.span->stage);
    ++(work.is_kernel ? stage.kernels : stage.memory_operations);
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
  const std::vector<const StageTimes*> group = largest_group(processes);
  StageTimes result = *group.front();
  result.processes = static_cast<int>(group.size());
  result.span_ns = median_of(group, [](const StageTimes& one) { return one.span_ns; });
  result.gap_ns = median_of(group, [](const StageTimes& one) { return one.gap_ns; });
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    StageTime& stage = result.stages[i];
    stage.sum_ns = median_of(group, [i](const StageTimes& one) { return one.stages[i].sum_ns; });
    stage.own_ns = median_of(group, [i](const StageTimes& one) { return one.stages[i].own_ns; });
  }
  return result;
}

}  // namespace fusegate::baselines
