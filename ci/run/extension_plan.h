// Which benchmarks are measured beyond the minimum. Pure decisions over verdicts and counts.
//
// Interim analyses between rounds must add no false regressions to those of one test at the end:
//   - Stopping early happens for futility alone: an undecided benchmark that an interim analysis
//     finds unchanged is done.
//   - Nothing stops early because it looks slower, or faster. A benchmark that looks changed after
//     the minimum gets a fixed number of further processes, whatever they show and however
//     significant it was. One that was undecided first and looks changed later goes on to its
//     maximum. Identical code is never measured again, nor what more processes cannot decide.
//   - The test that counts is made once, on the final data.
// What remains is that the first interim analysis chose how many processes a benchmark ends with.
// Of 20,000 simulated benchmarks that were slower by just the smallest effect, tested at a level of
// 1 %, 1.14 % were called, and 1.03 % by one test on the minimum (Student's t, 5, up to 15 a side).
// 7.8 % of them were called unchanged, and 2.4 % by one analysis of the minimum: that is what
// stopping for futility costs. extension_plan_test.cc repeats a part of this.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"

namespace fusegate::ci {

// A regression that has fewer is measured again whatever the time budget. The gate would otherwise
// fail a change by the very data that raised the suspicion, or let it pass because time ran out. An
// improvement fails nothing, and so is not.
inline constexpr int kLeastConfirmation = 2;

struct ExtensionRound {
  std::vector<std::string> benchmarks;   // to measure once more, by name
  std::vector<std::string> unconfirmed;  // those of them to which the budget does not apply
};

class ExtensionPlan {
 public:
  // A change is confirmed by as many processes again as made it suspicious, or by as many as the
  // maximum leaves.
  ExtensionPlan(int processes, int max_processes)
      : confirmation_(std::min(processes, max_processes - processes)),
        most_(max_processes - processes) {}

  // verdicts: by all that was measured so far. A benchmark that several runs were judged by is as
  // doubtful as its worst verdict.
  ExtensionRound next(const std::vector<baselines::Verdict>& verdicts);
  void count_round(const std::vector<std::string>& measured);
  std::size_t suite_size() const { return suite_.size(); }

 private:
  // A benchmark, as the interim analyses so far found it.
  struct State {
    baselines::VerdictKind kind =
        baselines::VerdictKind::kInconclusive;  // by all that was measured so far
    // kRegression, kImprovement or kInconclusive: what it was when it was first in doubt.
    std::optional<baselines::VerdictKind> first_doubt{};
    int extensions = 0;  // processes beyond the minimum that it had, on each side
  };

  void update(const std::string& name, const baselines::Verdict& verdict);
  int wanted(const State& benchmark) const;

  // In processes beyond the minimum, on each side.
  int confirmation_;  // of a change
  int most_;          // of what stays undecided
  std::map<std::string, State> suite_;
};

}  // namespace fusegate::ci
