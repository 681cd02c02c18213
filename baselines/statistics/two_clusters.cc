#include "baselines/statistics/two_clusters.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

std::optional<double> cluster_boundary(std::vector<double> values, double least_gap) {
  constexpr std::size_t kSmallestCluster = 2;
  constexpr double kLeastGap = 6;  // in standard deviations within the clusters
  if (values.size() < 2 * kSmallestCluster) return std::nullopt;
  std::ranges::sort(values);
  std::size_t lower = 1;  // how many values lie below the gap
  for (std::size_t i = 2; i < values.size(); ++i) {
    if (values[i] - values[i - 1] > values[lower] - values[lower - 1]) lower = i;
  }
  if (std::min(lower, values.size() - lower) < kSmallestCluster) return std::nullopt;
  const double gap = values[lower] - values[lower - 1];
  const std::span<const double> all(values);
  const double within = std::sqrt(pooled_variance({all.first(lower), all.subspan(lower)}).variance);
  const auto count = static_cast<double>(values.size());
  if (gap <= least_gap || gap < kLeastGap * within * count / (count - 2)) return std::nullopt;
  return values[lower - 1] + gap / 2;
}

}  // namespace fusegate::baselines
