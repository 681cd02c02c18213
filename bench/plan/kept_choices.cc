#include "bench/plan/kept_choices.h"

#include <map>
#include <string>

#include "baselines/record/run.h"

namespace fusegate {
namespace {

// Whether there was any.
bool take_choices(Plan& plan, const Run& run) {
  std::map<std::string, StageChoices> choices;
  for (const BenchmarkSeries& series : run.benchmarks) choices[series.name] = series.choices;
  bool any = false;
  for (PlannedBenchmark& benchmark : plan.benchmarks) {
    benchmark.kept_choices = choices[benchmark.name()];
    any = any || !benchmark.kept_choices.empty();
  }
  return any;
}

}  // namespace

std::optional<std::filesystem::path> keep_choices(Plan& plan,
                                                  const std::vector<std::filesystem::path>& runs,
                                                  const Environment& environment) {
  for (const std::filesystem::path& path : runs) {
    const Run run = load_run({path});
    if (device_slug(run.environment) != device_slug(environment)) continue;
    return take_choices(plan, run) ? std::optional(path) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fusegate
