// Where along the sweep the benchmarks of a family agree: the family cut into ranges, such as "M up
// to 1024" and the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baselines/comparing/family_pooling.h"

namespace fusegate::baselines {

struct FamilyPoint {
  std::vector<std::int64_t> position;  // one an axis of the sweep; the same axes for all points
  Estimate estimate;
};

// Groups of the points' indices, each in rising order. Each step takes out of a group the range of
// one axis, or the single point, whose mean lies farthest from the mean of all that is left, in
// standard errors; what is left on both sides of it stays one group, for where a range in the
// middle is slower the two ends agree. (A. B. Olshen et al., "Circular binary segmentation for the
// analysis of array-based DNA copy number data", Biostatistics 5 (2004), 557-572.) Of equal ones
// the earlier axis is taken. A step is made where
// - it is significant at 1 % after Bonferroni's correction for every range that was tried, with
//   neighbours' own scatter as the yardstick where that is more than noise explains, and
// - the two means differ by more than smallest_difference, below which nothing matters.
// Where that makes more groups than two and than a third of the points, or more than eight, the
// points differ without a pattern that would be worth telling, and all of them are one group.
std::vector<std::vector<std::size_t>> agreeing_ranges(const std::vector<FamilyPoint>& points,
                                                      double smallest_difference);

}  // namespace fusegate::baselines
