#include "bench/plan/kept_choices.h"

#include <map>
#include <string>

#include "baselines/record/load_run.h"

namespace fusegate::bench {
namespace {

// Whether there was any.
bool take_choices(Plan& plan, const baselines::Run& run) {
  std::map<std::string, kernels::StageChoices> choices;
  for (const baselines::BenchmarkSeries& series : run.benchmarks)
    choices[series.name] = series.choices;
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
                                                  const baselines::Environment& environment) {
  for (const std::filesystem::path& path : runs) {
    const baselines::Run run = baselines::load_run({path});
    if (baselines::device_slug(run.environment) != baselines::device_slug(environment)) continue;
    return take_choices(plan, run) ? std::optional(path) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fusegate::bench
