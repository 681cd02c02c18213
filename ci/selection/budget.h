// A run within a time budget: what is known of its benchmarks, and what the budget buys of them
// (budget_plan.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ci/processes/process_times.h"
#include "ci/selection/budget_plan.h"
#include "ci/selection/selection.h"

namespace fusegate::ci {

// What the run is, apart from its benchmarks.
struct BudgetTerms {
  double budget_s = 0;          // in all, as the user said
  double left_s = 0;            // of it
  double identification_s = 0;  // of one program: a process takes no longer, but for its samples
  int programs = 2;
  int most_processes = 15;
  bool may_thin = true;  // fewer samples may be taken than the suite says
};

struct BudgetedRun {
  double budget_s = 0;
  BudgetRequest request{};
  std::vector<std::string> names{};     // of the request's benchmarks
  std::vector<std::string> controls{};  // likewise: declared ones whose code is not known, first
  int samples = 0, layouts = 0;         // of the suite's protocol
  BudgetPlan plan{};

  std::vector<std::string> measured() const;  // with controls, sorted
  std::vector<std::string> left_out() const;
  // "--samples=24 --layouts=24", where these are not the suite's.
  std::vector<std::string> flags() const;
  // By what a process of the first round took, and what is left. Fewer benchmarks where four
  // processes of each program would else not fit; the samples stay.
  void replan(const ProcessTimes& process, double left_s);
  // "within 60 s: measuring 4 of the 12 benchmarks that can have changed ..."
  std::string text() const;
  // Where a plan has too few processes for a verdict; else empty.
  std::string shortage() const;
};

// What a process takes for the samples of a benchmark, by a protocol as run files record it and the
// time of a call, 0 where that is unknown. 0 of a protocol that does not say.
double samples_s(const nlohmann::json& protocol, double time_ns);

// Weights are the baseline's suite's. What processes of a benchmark differ by is a calibration's,
// else that of earlier figures, else the median of what is known of others. A benchmark that only
// one side has weighs nothing, as nothing gates it.
BudgetedRun budgeted(const std::vector<ComparedRuns>& compared, const Selection& selection,
                     const BudgetTerms& terms);

}  // namespace fusegate::ci
