#include "baselines/comparing/staleness.h"

#include <fmt/format.h>

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

std::string counted_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

void note_age(const Acceptance& acceptance, const Run& candidate, Staleness& staleness) {
  const auto accepted = parse_instant(acceptance.when);
  const auto measured = parse_instant(candidate.provenance.date);
  if (!accepted) {
    staleness.notes.push_back(fmt::format(
        "How old the baseline is cannot be told: its acceptance has no date, but \"{}\".",
        acceptance.when));
  }
  if (!accepted || !measured) return;
  using Days = std::chrono::duration<double, std::chrono::days::period>;
  staleness.age_days = Days(*measured - *accepted).count();
  staleness.too_old = *staleness.age_days > staleness.max_age_days;
  if (!staleness.too_old) return;
  staleness.notes.push_back(fmt::format(
      "The baseline is stale: accepted {:.0f} days before the candidate was measured, more than "
      "{:g}.",
      *staleness.age_days, staleness.max_age_days));
}

void note_libraries(Staleness& staleness) {
  std::string baseline;
  std::string candidate;
  for (const EnvironmentDifference& difference : staleness.libraries) {
    const std::string_view comma = baseline.empty() ? "" : ", ";
    baseline += fmt::format("{}{} {}", comma, difference.field, difference.baseline);
    candidate += fmt::format("{}{} {}", comma, difference.field, difference.candidate);
  }
  if (baseline.empty()) return;
  staleness.notes.push_back(fmt::format("The baseline was measured with {}; the candidate with {}.",
                                        baseline, candidate));
}

void note_benchmarks(const std::vector<std::string>& names, std::string_view where,
                     Staleness& staleness) {
  if (names.empty()) return;
  staleness.notes.push_back(fmt::format("{} {} not in the {}: {}.", names.size(),
                                        names.size() == 1 ? "benchmark is" : "benchmarks are",
                                        where, counted_names(names)));
}

}  // namespace

Staleness staleness_of(const Acceptance& acceptance, const Run& baseline, const Run& candidate,
                       double max_age_days) {
  Staleness staleness;
  staleness.max_age_days = max_age_days;
  staleness.libraries = environment_differences(baseline.environment, candidate.environment);
  std::erase_if(staleness.libraries, [](const EnvironmentDifference& difference) {
    return std::ranges::find(kLibraries, difference.field) == kLibraries.end();
  });
  staleness.not_in_baseline = only_in_first(candidate, baseline);
  staleness.not_in_candidate = only_in_first(baseline, candidate);
  note_age(acceptance, candidate, staleness);
  note_libraries(staleness);
  note_benchmarks(staleness.not_in_baseline, "baseline", staleness);
  note_benchmarks(staleness.not_in_candidate, "candidate", staleness);
  return staleness;
}

}  // namespace fusegate::baselines
