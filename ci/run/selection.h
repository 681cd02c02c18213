// Which benchmarks a run measures. Equal work is never blamed (baselines/comparing/judge.h), so to
// measure all of it would tell nothing. Those are measured that do other work than what they are
// compared with, that are new, or of which it is not known; and of equal work as much as tells what
// the machine does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/run/control_choice.h"

namespace fusegate::ci {

// What a gate will compare, of which at least the identities are known.
struct ComparedRuns {
  baselines::Run baseline;
  baselines::Run candidate;
  // Figures of the same benchmarks, of any day and code, where there are some.
  std::optional<baselines::Run> earlier{};
};

// What the controls are for (control_choice.h).
enum class ControlUse { kStored, kSideBySide };

// Of 22 benchmarks a process takes 10 s; of as few that differ and their controls so much less that
// four processes of each of two programs take no more than a minute.
inline constexpr std::size_t kFewDiffering = 8;

struct Selection {
  std::vector<std::string> measured;  // by name, sorted
  std::size_t benchmarks = 0;         // of the candidate
  std::size_t equal = 0;              // of them do equal work
  std::size_t controls = 0;           // of these are measured

  bool nothing_differs() const { return measured.size() == controls; }
  bool few_differ() const { return measured.size() - controls <= kFewDiffering; }
};

// A benchmark does equal work where it does in all of the comparisons. Equal input gives an equal
// plan: nothing is drawn.
Selection select_benchmarks(const std::vector<ComparedRuns>& compared,
                            ControlUse use = ControlUse::kStored);

// "90 of 104 benchmarks do equal work: measuring the other 14, and 24 of the equal ones as
// controls"
std::string selection_text(const Selection& plan);

}  // namespace fusegate::ci
