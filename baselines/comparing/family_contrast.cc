#include "baselines/comparing/family_contrast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/comparing/between_cards.h"

namespace fusegate::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A benchmark may lack an invocation that others have.
std::size_t common_invocations(const std::vector<RangeRow>& rows,
                               std::vector<double> TwoSides::*side) {
  std::size_t common = std::numeric_limits<std::size_t>::max();
  for (const RangeRow& row : rows) common = std::min(common, (row.sides.*side).size());
  return common;
}

// The weighted sum of all rows, an invocation each.
std::vector<double> values_by_invocation(const std::vector<RangeRow>& rows,
                                         const std::vector<double>& weights,
                                         std::vector<double> TwoSides::*side) {
  std::vector<double> values(common_invocations(rows, side));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += weights[row] * (rows[row].sides.*side)[i];
    }
  }
  return values;
}

TwoSides sides_of_range(const std::vector<RangeRow>& rows, const std::vector<double>& weights) {
  TwoSides sides;
  sides.baseline = values_by_invocation(rows, weights, &TwoSides::baseline);
  sides.candidate = values_by_invocation(rows, weights, &TwoSides::candidate);
  const TwoSides& first = rows.front().sides;
  if (first.baseline_blocks.empty() || first.candidate_blocks.empty()) return sides;
  sides.baseline_blocks = first.baseline_blocks;
  sides.baseline_blocks.resize(sides.baseline.size());
  sides.candidate_blocks = first.candidate_blocks;
  sides.candidate_blocks.resize(sides.candidate.size());
  return sides;
}

// A card that is 1 % slower is so in all rows: standard deviations add, not variances.
VarianceEstimate between_cards(const std::vector<RangeRow>& rows,
                               const std::vector<double>& weights) {
  double deviation = 0;
  double degrees_of_freedom = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].between_cards) continue;
    deviation += weights[row] * std::sqrt(rows[row].between_cards->variance);
    degrees_of_freedom = std::min(degrees_of_freedom, rows[row].between_cards->degrees_of_freedom);
  }
  return {deviation * deviation, degrees_of_freedom};
}

Contrast contrast_by_invocation(const std::vector<RangeRow>& rows, const PooledEffects& pooled) {
  const Difference difference = difference_of(sides_of_range(rows, pooled.weights));
  Contrast contrast{pooled.mean.effect, std::sqrt(difference.variance.variance * difference.share),
                    difference.variance.degrees_of_freedom};
  const VarianceEstimate cards = between_cards(rows, pooled.weights);
  if (cards.variance > 0) add_variance(cards, contrast);
  return contrast;
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

}  // namespace fusegate::baselines
