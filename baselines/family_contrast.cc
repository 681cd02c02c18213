#include "baselines/family_contrast.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fusegate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Benchmarks that were measured more often than others have their additional invocations last.
std::size_t common_invocations(const std::vector<RangeRow>& rows,
                               std::vector<double> RangeRow::*side) {
  std::size_t common = std::numeric_limits<std::size_t>::max();
  for (const RangeRow& row : rows) common = std::min(common, (row.*side).size());
  return common;
}

// The weighted sum of all rows, an invocation each.
std::vector<double> values_by_invocation(const std::vector<RangeRow>& rows,
                                         const std::vector<double>& weights,
                                         std::vector<double> RangeRow::*side) {
  std::vector<double> values(common_invocations(rows, side));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += weights[row] * (rows[row].*side)[i];
    }
  }
  return values;
}

Contrast contrast_by_invocation(const std::vector<RangeRow>& rows, const PooledEffects& pooled) {
  const auto baseline = values_by_invocation(rows, pooled.weights, &RangeRow::baseline);
  const auto candidate = values_by_invocation(rows, pooled.weights, &RangeRow::candidate);
  const VarianceEstimate variance = pooled_variance({baseline, candidate});
  const double share =
      1 / static_cast<double>(baseline.size()) + 1 / static_cast<double>(candidate.size());
  return {pooled.mean.effect, std::sqrt(variance.variance * share), variance.degrees_of_freedom};
}

}  // namespace

NormalEstimates::NormalEstimates(double confidence) : confidence_(confidence) {
  standard_normal_ = half_width({0, 1, kInfinity});
}

double NormalEstimates::half_width(const Contrast& contrast) {
  const double degrees_of_freedom = contrast.degrees_of_freedom;
  const auto [found, inserted] = half_widths_.try_emplace(degrees_of_freedom, 0);
  if (inserted) found->second = confidence_interval({0, 1, degrees_of_freedom}, confidence_).high;
  return found->second * contrast.standard_error;
}

Estimate NormalEstimates::of(const Contrast& contrast) {
  return {contrast.effect, half_width(contrast) / standard_normal_};
}

RangeContrast contrast_of_range(const std::vector<RangeRow>& rows, NormalEstimates& estimates) {
  std::vector<Estimate> normal;
  for (const RangeRow& row : rows) normal.push_back(estimates.of(row.contrast));
  RangeContrast range;
  range.pooled = pool_effects(normal);
  const Contrast by_row{range.pooled.mean.effect, range.pooled.mean.standard_error, kInfinity};
  const Contrast by_invocation = contrast_by_invocation(rows, range.pooled);
  const bool rows_decide = estimates.half_width(by_row) >= estimates.half_width(by_invocation);
  range.contrast = rows_decide ? by_row : by_invocation;
  return range;
}

}  // namespace fusegate
