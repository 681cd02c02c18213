// What the statistics say of one benchmark that both runs have, before it is put into words.
#pragma once

#include <optional>
#include <vector>

#include "baselines/run.h"
#include "baselines/statistics.h"

namespace fusegate {

struct Rule;

struct Comparison {
  const BenchmarkSeries* baseline = nullptr;
  const BenchmarkSeries* candidate = nullptr;
  // Of logarithms.
  Contrast time{};
  std::optional<Contrast> cycles{};    // where every invocation of both sides has them
  bool has_single_invocation = false;  // on either side
  bool has_borrowed_noise = false;     // on both, so the noise is that of the suite's others
  // Adjusted over the suite. "Time alone" tells a clock that moved from a kernel that did.
  double p_slower = 1;
  double p_faster = 1;
  double p_slower_in_time_alone = 1;
  double p_faster_in_time_alone = 1;

  bool has_estimate() const { return time.degrees_of_freedom > 0; }
};

// In the input's order; both pointers of each are set, and both have invocations.
void compare_suite(std::vector<Comparison>& suite, const Rule& rule);

}  // namespace fusegate
