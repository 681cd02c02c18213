#include "ci/measuring/work_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string_view>

#include "baselines/comparing/comparison.h"

namespace fusegate::ci {
namespace {

using Names = std::set<std::string>;

const baselines::BenchmarkSeries* find_series(const baselines::Run& run, const std::string& name) {
  const auto found =
      std::ranges::lower_bound(run.benchmarks, name, {}, &baselines::BenchmarkSeries::name);
  return found != run.benchmarks.end() && found->name == name ? &*found : nullptr;
}

bool does_equal_work(const ComparedRuns& runs, const std::string& name) {
  const baselines::BenchmarkSeries* before = find_series(runs.baseline, name);
  const baselines::BenchmarkSeries* now = find_series(runs.candidate, name);
  return before != nullptr && now != nullptr && before->failure.empty() && now->failure.empty() &&
         baselines::equal_work(*before, *now);
}

// What stands between the slashes of a name: operation, implementation, sizes.
class Parts {
 public:
  // How often the parts of the name were met so far.
  int met(std::string_view name) const {
    int sum = 0;
    for (const auto part : std::views::split(name, '/')) {
      const auto found = counts_.find(std::string_view(part.begin(), part.end()));
      if (found != counts_.end()) sum += found->second;
    }
    return sum;
  }
  void meet(std::string_view name) {
    for (const auto part : std::views::split(name, '/')) {
      ++counts_[std::string(part.begin(), part.end())];
    }
  }

 private:
  std::map<std::string, int, std::less<>> counts_;
};

bool is_control(const std::vector<ComparedRuns>& compared, const std::string& name) {
  return std::ranges::all_of(compared, [&](const ComparedRuns& runs) {
    const baselines::BenchmarkSeries* const before = find_series(runs.baseline, name);
    return before != nullptr && before->is_control;
  });
}

Names controls_among(const Names& equal, const std::vector<ComparedRuns>& compared) {
  Names controls;
  Parts parts;
  std::vector<std::string> left;
  for (const std::string& name : equal) {
    if (!is_control(compared, name)) {
      left.push_back(name);
      continue;
    }
    controls.insert(name);
    parts.meet(name);
  }
  while (controls.size() < kControls && !left.empty()) {
    const auto next = std::ranges::min_element(
        left, {}, [&](const std::string& name) { return parts.met(name); });
    parts.meet(*next);
    controls.insert(std::move(*next));
    left.erase(next);
  }
  return controls;
}

}  // namespace

WorkPlan plan_work(const std::vector<ComparedRuns>& compared) {
  Names all;
  Names measured;
  for (const ComparedRuns& runs : compared) {
    for (const auto& series : runs.candidate.benchmarks) all.insert(series.name);
    // What only the baseline's program has is measured there: the gate then calls it missing.
    for (const auto& series : runs.baseline.benchmarks) {
      if (series.invocations.empty() && find_series(runs.candidate, series.name) == nullptr) {
        measured.insert(series.name);
      }
    }
  }
  Names equal;
  for (const std::string& name : all) {
    const bool is_equal = std::ranges::all_of(
        compared, [&](const ComparedRuns& runs) { return does_equal_work(runs, name); });
    (is_equal ? equal : measured).insert(name);
  }
  Names controls = controls_among(equal, compared);
  WorkPlan plan{
      .measured = {}, .benchmarks = all.size(), .equal = equal.size(), .controls = controls.size()};
  measured.merge(controls);
  plan.measured.assign(measured.begin(), measured.end());
  return plan;
}

std::string work_plan_text(const WorkPlan& plan) {
  const std::string equal =
      fmt::format("{} of {} benchmarks do equal work", plan.equal, plan.benchmarks);
  if (plan.measured.empty()) return equal + ": nothing is measured";
  const std::size_t others = plan.measured.size() - plan.controls;
  if (plan.controls == plan.equal) return equal + ": measuring all";
  return others == 0
             ? fmt::format("{}: measuring {} of them as controls", equal, plan.controls)
             : fmt::format("{}: measuring the other {}, and {} of the equal ones as controls",
                           equal, others, plan.controls);
}

}  // namespace fusegate::ci
