// Which benchmarks a run measures. Equal work is never blamed (baselines/comparing/judge.h), so to
// measure all of it would tell nothing. Those are measured that do other work than what they are
// compared with, that are new, or of which it is not known; and of equal work as much as tells what
// the machine does.
#pragma once

#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::ci {

// What a gate will compare, of which at least the identities are known.
struct ComparedRuns {
  baselines::Run baseline;
  baselines::Run candidate;
};

// So many benchmarks of equal work are measured as controls: with as many, an unchanged row raised
// an alarm in 0.2 % of simulated suites of 104 rows, with 16 in 0.6 % (null_distribution.h).
inline constexpr std::size_t kControls = 24;

struct WorkPlan {
  std::vector<std::string> measured;  // by name, sorted
  std::size_t benchmarks = 0;         // of the candidate
  std::size_t equal = 0;              // of them do equal work
  std::size_t controls = 0;           // of these are measured

  bool nothing_differs() const { return measured.size() == controls; }
};

// A benchmark does equal work where it does in all of the comparisons. The controls depend on the
// names alone: first the suite's own, then those that together have most operations and sizes.
WorkPlan plan_work(const std::vector<ComparedRuns>& compared);

// "90 of 104 benchmarks do equal work: measuring the other 14, and 24 of the equal ones as
// controls"
std::string work_plan_text(const WorkPlan& plan);

}  // namespace fusegate::ci
