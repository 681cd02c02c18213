// The ratio of two quantities of one run, such as two kernels' times, with its interval: the
// processes are the unit of replication.
//
// The interval is of the difference of the mean logarithms, by Student's t with the variance of
// both sides pooled (statistics.h). Both sides come of the same processes, which the clock moves
// alike, so taking them as independent makes the interval rather too wide. At 99 %: a document
// makes some dozens of these comparisons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/statistics/statistics.h"
#include "ci/claims/claim.h"

namespace fusegate::ci {

inline constexpr double kClaimConfidence = 0.99;
// What a claim about a time must exceed. Several times what places in memory and the spread between
// processes leave of the ratio of two kernels (docs/h200-pr.md has 0.06 % for one of them).
inline constexpr double kClaimEffect = 0.01;

struct Ratio {
  double value = 0;
  baselines::Interval interval{};  // of the same; infinite where either side has one process alone
  int processes = 0;               // of the side that has fewer

  bool is_known() const { return processes >= 2; }
};

// One value a process; all of them must be finite and above zero. None where a side is empty.
std::optional<Ratio> ratio_of(const std::vector<double>& numerators,
                              const std::vector<double>& denominators);

// Whether the ratio is below (above) the bound: yes or no where the whole interval says so.
Answer is_below(const Ratio& ratio, double bound);
Answer is_above(const Ratio& ratio, double bound);
// Whether it lies between the two.
Answer is_within(const Ratio& ratio, double low, double high);

// "0.574 [0.571, 0.577]"; "0.574 (one process, no interval)".
std::string ratio_text(const Ratio& ratio);

// A kernel's time over another's, in time and, where both recorded the clock, in cycles.
struct TimeRatio {
  Ratio time;
  std::optional<Ratio> cycles;
};

// By more than kClaimEffect. In time and in cycles both, as a regression must show in both: what
// shows in one alone is the clock.
Answer is_faster(const TimeRatio& ratio);
Answer is_slower(const TimeRatio& ratio);

}  // namespace fusegate::ci
