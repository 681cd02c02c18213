// What a time budget buys: which benchmarks are measured, beside how many controls, and by how many
// processes of how many samples, so that the slowdowns which stay possible are smallest. Pure
// arithmetic over what is known before.
//
// A process takes process_s, and of each benchmark as many sample_s as it takes samples. N of each
// program rule out slowdowns above
//
//   t(0.99, 2 N - 2) * spread * sqrt(2 / N) * sqrt(whole / samples)
//
// in a benchmark that did not change: Student's t of two means (W. S. Gosset, "The probable error
// of a mean", 1908). Samples lie in as many memory layouts, which is most of what processes differ
// by: on an H200 they spread by 0.056 % with 48 layouts, 0.138 % with 10 and 0.505 % with one
// (docs/evidence/protocol.md), as if samples were independent. Of a benchmark that is not measured
// nothing is ruled out, which counts as a slowdown by 100 %.
#pragma once

#include <cstddef>
#include <vector>

namespace fusegate::ci {

// A benchmark, as far as is known before it is measured.
struct BudgetedBenchmark {
  double weight = 1;    // 0: measuring it decides nothing
  double spread = 0;    // from process to process, with `whole` samples: relative, above 0
  double sample_s = 0;  // with what belongs to it, such as its layout
};

struct BudgetRequest {
  std::vector<BudgetedBenchmark> benchmarks{};  // that can have changed
  std::vector<BudgetedBenchmark> controls{};    // in the order in which they are taken
  std::size_t fewest_controls = 0;
  int programs = 2;
  double process_s = 0;  // whatever it measures
  double seconds = 0;    // that are left
  int whole = 48;        // samples of a process, as the suite has them
  bool may_thin = true;  // fewer samples may be taken
  int fewest = 4;        // processes of each program that a verdict takes
  int most = 15;         // likewise that are run
  int done = 0;          // likewise that were measured before, of which the time is spent
};

struct BudgetPlan {
  std::vector<std::size_t> measured{};  // indices of benchmarks, sorted
  std::size_t controls = 0;             // the first so many
  int processes = 0;                    // of each program; below BudgetRequest::fewest: too few
  int samples = 0;                      // of a process
  double expected_s = 0;
  double ruled_out = 1;  // the weighted mean of what can be ruled out; 0 where nothing weighs
  bool fits = true;      // false: not even two processes of one benchmark fit, and that is the plan
};

// The smallest ruled_out: for each number of processes, samples and controls the benchmarks that
// rule out most for their time. As many controls as cost no more than a tenth of it.
BudgetPlan plan_budget(const BudgetRequest& request);

// By the formula above, at most 1.
double expected_to_rule_out(const BudgetedBenchmark& benchmark, int processes, int samples,
                            int whole);

// What a process of each program takes together.
double round_s(const BudgetRequest& request, const BudgetPlan& plan);

}  // namespace fusegate::ci
