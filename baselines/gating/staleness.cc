#include "baselines/gating/staleness.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "baselines/io/instant.h"

namespace fusegate::baselines {
namespace {

constexpr std::array<std::string_view, 3> kLibraries{"driver", "cuda", "cublas"};

std::vector<std::string> sorted_names(const Run& run) {
  std::vector<std::string> names;
  for (const BenchmarkSeries& series : run.benchmarks) names.push_back(series.name);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> only_in_first(const Run& first, const Run& second) {
  std::vector<std::string> only;
  std::ranges::set_difference(sorted_names(first), sorted_names(second), std::back_inserter(only));
  return only;
}

void set_age(const Run& candidate, Staleness& staleness) {
  const auto accepted = parse_instant(staleness.accepted);
  const auto measured = parse_instant(candidate.provenance.date);
  if (!accepted || !measured) return;
  using Days = std::chrono::duration<double, std::chrono::days::period>;
  staleness.age_days = Days(*measured - *accepted).count();
  staleness.too_old = *staleness.age_days > staleness.max_age_days;
}

}  // namespace

Staleness staleness_of(const Acceptance& acceptance, const Run& baseline, const Run& candidate,
                       double max_age_days) {
  Staleness staleness;
  staleness.accepted = acceptance.when;
  staleness.max_age_days = max_age_days;
  set_age(candidate, staleness);
  staleness.libraries = environment_differences(baseline.environment, candidate.environment);
  std::erase_if(staleness.libraries, [](const EnvironmentDifference& difference) {
    return std::ranges::find(kLibraries, difference.field) == kLibraries.end();
  });
  staleness.not_in_baseline = only_in_first(candidate, baseline);
  staleness.not_in_candidate = only_in_first(baseline, candidate);
  return staleness;
}

}  // namespace fusegate::baselines
