// How most rows of a kind moved between two sessions. Where no row is known to have done equal
// work, nothing tells a machine that changed from code that did. But a change that is one kernel's
// does not move most rows of its kind. B. Efron, "Large-scale simultaneous hypothesis testing: the
// choice of a null hypothesis", J. Am. Stat. Assoc. 99 (2004), 96-104.
#pragma once

#include <vector>

#include "baselines/statistics/statistics.h"
#include "baselines/statistics/variance_prior.h"

namespace fusegate::baselines {

struct CommonMovement {
  double shift = 0;            // the median of its group, weighted by how well rows are known
  VarianceEstimate scatter{};  // of all rows about their groups', beyond their own errors
};

// Fewer rows than this have no common movement: a change may be most of them.
inline constexpr std::size_t kFewestMovedRows = 16;

// Of each row, that of its group, or of all rows where the group has fewer than eight. Rows without
// degrees of freedom are passed over. The scatter is that of R. C. Paule, J. Mandel (see
// null_distribution.h) with medians in place of sums, so that what a change did to some rows is
// none.
std::vector<CommonMovement> common_movements(const std::vector<Contrast>& rows,
                                             const std::vector<int>& groups);

}  // namespace fusegate::baselines
