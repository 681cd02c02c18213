// How much slower a range of a family is as a whole, and how sure that is.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "baselines/comparing/family_pooling.h"
#include "baselines/statistics/statistics.h"
#include "baselines/statistics/two_sides.h"

namespace fusegate::baselines {

// One benchmark of the range, in time or in cycles.
struct RangeRow {
  Contrast contrast;  // with degrees of freedom and a standard error above zero
  // In the order of the invocations, of those that all benchmarks of the run have had: none that
  // was measured afresh.
  TwoSides sides;
  // The part of the contrast that two cards differ by; none where both runs are of one card.
  std::optional<VarianceEstimate> between_cards;
};

// Gives a contrast the standard error of the normal distribution that has the same interval, so
// that few degrees of freedom weigh less. Most benchmarks of a suite share their degrees of
// freedom, whose quantile costs more than all else of a family; it is looked up once.
class NormalEstimates {
 public:
  explicit NormalEstimates(double confidence);

  Estimate of(const Contrast& contrast);
  double half_width(const Contrast& contrast);  // of the interval

 private:
  double confidence_;
  double standard_normal_;                // the half width of the normal distribution's
  std::map<double, double> half_widths_;  // of a standard error of one, by degrees of freedom
};

struct RangeContrast {
  Contrast contrast;  // of the pooled mean
  PooledEffects pooled;
};

// rows: at least one; each side of each has at least two invocations. Their normal estimates are
// pooled.
//
// Rows are measured by the same processes and share what such a process does to all of them. So the
// pooled mean's error is also told from its values by invocation, sums of all rows by their
// weights: invocations are the unit of replication here as for a single benchmark. L. V. Hedges, E.
// Tipton, M. C. Johnson, "Robust variance estimation in meta-regression with dependent effect size
// estimates", Research Synthesis Methods 1 (2010), 39-65. Two cards differ in all rows alike, which
// adds to this error undivided. Of the two errors the one with the wider interval counts.
RangeContrast contrast_of_range(const std::vector<RangeRow>& rows, NormalEstimates& estimates);

}  // namespace fusegate::baselines
