// The ratio of two quantities of one run, such as two kernels' times, with its
// interval: the processes are the unit of replication.
//
// The interval is of the difference of the mean logarithms, by Student's t with the variance of
// both sides pooled (statistics.h). Both sides come of the same processes, which the clock moves
// alike, so taking them as independent makes the interval rather too wide.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/statistics/statistics.h"
#include "ci/claims/claim.h"

namespace fusegate::ci {

struct Ratio {
  double value = 0;
  baselines::Interval interval{};  // of the same; infinite where either side has
                                   // one process alone
  int processes = 0;               // of the side that has fewer

  bool is_known() const { return processes >= 2; }
};

// One value a process; all of them must be finite and above zero. None where a side is empty.
std::optional<Ratio> ratio_of(const std::vector<double>& numerators,
                              const std::vector<double>& denominators, double confidence);

// Whether the ratio lies between the two: yes or no where the whole interval says so.
Answer is_within(const Ratio& ratio, double low, double high);

// "0.574 [0.571, 0.577]"; "0.574 (one process, no interval)".
std::string ratio_text(const Ratio& ratio);

// The geometric mean; NaN of none.
double typical(const std::vector<double>& values);

}  // namespace fusegate::ci
