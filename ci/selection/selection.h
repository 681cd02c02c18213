// Which benchmarks a run measures. Identical code is never blamed (baselines/comparing/judge.h), so
// measuring all of it shows nothing. A run measures what runs other code than what it is compared
// with, what is new, and what is not known; and of identical code a few controls, which show what
// the machine does.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/selection/control_choice.h"

namespace fusegate::ci {

// "--benchmark_filter=^(name|name)...$", a regular expression, POSIX's and RE2's, in which each
// name matches itself alone, with or without what Google Benchmark appends to it ("/manual_time").
// Nothing where it would be longer than Linux lets one argument be.
std::optional<std::string> benchmark_filter_flag(const std::vector<std::string>& names);

// What a gate will compare, of which at least the identities are known.
struct ComparedRuns {
  baselines::Run baseline;
  baselines::Run candidate;
  // Figures of the same benchmarks, of any day and code; none where nothing is stored.
  std::optional<baselines::Run> earlier{};
  // By name, how processes spread, relative, as a calibration has it; empty where none is stored.
  std::map<std::string, double> spreads{};
};

// What the controls are for (control_choice.h).
enum class ControlUse { kStored, kSideBySide };

// Of 22 benchmarks a process takes 10 s; of as few that differ and their controls so much less that
// four processes of each of two programs take no more than a minute.
inline constexpr std::size_t kFewDiffering = 8;

struct Selection {
  std::vector<std::string> measured;         // by name, sorted
  std::size_t benchmarks = 0;                // of the candidate
  std::size_t identical = 0;                 // of them run identical code
  std::size_t controls = 0;                  // of these are measured
  std::vector<std::string> control_names{};  // as control_choice.h orders them

  bool nothing_differs() const { return measured.size() == controls; }
  bool few_differ() const { return measured.size() - controls <= kFewDiffering; }
};

// A benchmark runs identical code where it does in all of the comparisons. only: of those that
// differ, this one is measured, and the others count as if they were not there; "": all are.
// Deterministic: nothing is drawn.
Selection select_benchmarks(const std::vector<ComparedRuns>& compared,
                            ControlUse use = ControlUse::kStored, const std::string& only = "");

// Null where the run has no such benchmark.
const baselines::BenchmarkSeries* find_series(const baselines::Run& run, const std::string& name);

// What is known of these benchmarks before they are measured, in the set's order.
std::vector<KnownBenchmark> known_benchmarks(const std::set<std::string>& names,
                                             const std::vector<ComparedRuns>& compared);

// "90 of 104 benchmarks run identical code: measuring the other 14, and 24 of the identical ones as
// controls"
std::string selection_text(const Selection& selection);

}  // namespace fusegate::ci
