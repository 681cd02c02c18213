#include "baselines/changes/dating.h"

#include <algorithm>
#include <cmath>

#include "baselines/changes/cusum.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

using Values = std::vector<KnownNormal>;

Values clipped(std::span<const KnownNormal> values, double center) {
  Values result(values.begin(), values.end());
  for (KnownNormal& own : result) {
    const double most = CusumRule{}.clip * std::sqrt(own.variance);
    own.value = center + std::clamp(own.value - center, -most, most);
  }
  return result;
}

double median_of(std::span<const KnownNormal> values) {
  std::vector<double> numbers;
  for (const KnownNormal& own : values) numbers.push_back(own.value);
  return median(std::move(numbers));
}

KnownNormal robust_mean(std::span<const KnownNormal> values) {
  return weighted_mean(clipped(values, median_of(values)));
}

double split_cost(std::span<const KnownNormal> values, std::size_t first) {
  return cost_of_one_level(values.first(first)) + cost_of_one_level(values.subspan(first));
}

std::size_t likeliest_split(std::span<const KnownNormal> values, std::size_t end) {
  std::size_t best = 1;
  for (std::size_t i = 2; i < end; ++i) {
    if (split_cost(values, i) < split_cost(values, best)) best = i;
  }
  return best;
}

// Of a change at each element, between two levels: squared deviations, an odd one's clipped.
std::vector<double> costs_between(std::span<const KnownNormal> values, double before,
                                  double after) {
  const auto cost = [](const KnownNormal& own, double level) {
    return std::min(std::pow(CusumRule{}.clip, 2),
                    (own.value - level) * (own.value - level) / own.variance);
  };
  std::vector<double> costs(values.size() + 1);
  for (const KnownNormal& own : values) costs[0] += cost(own, after);
  for (std::size_t i = 0; i < values.size(); ++i) {
    costs[i + 1] = costs[i] + cost(values[i], before) - cost(values[i], after);
  }
  return costs;
}

}  // namespace

DatedChange change_at(std::span<const KnownNormal> values, std::size_t first) {
  const KnownNormal before = robust_mean(values.first(first)),
                    after = robust_mean(values.subspan(first));
  return {first, after.value - before.value, after.variance + before.variance, after};
}

DatedChange date_change(std::span<const KnownNormal> all,
                        const std::function<bool(std::size_t)>& is_likely) {
  constexpr double kLikelihoodInterval = 4;  // of costs, which are twice the log likelihood
  const std::size_t shortest = all.size() < 4 ? 1 : 2;
  const Values values = clipped(all, robust_mean(all.first((all.size() + 1) / 2)).value);
  const auto changes = pelt(values, 3 * std::log(static_cast<double>(values.size())), shortest);
  const std::size_t begin = changes.size() > 1 ? changes[changes.size() - 2] : 0;
  const auto part = std::span(values).subspan(begin);
  const std::size_t end = part.size() - shortest + 1;
  std::size_t first = changes.empty() ? likeliest_split(part, end) : changes.back() - begin;
  // Clipped, a large step is dated no better than a small one.
  const DatedChange rough = change_at(all.subspan(begin), first);
  const std::vector<double> costs =
      costs_between(all.subspan(begin), rough.after.value - rough.effect, rough.after.value);
  for (std::size_t i = 1; i < end; ++i) {
    if (costs[i] < costs[first]) first = i;
  }
  double least = costs[first] + kLikelihoodInterval;
  for (std::size_t i = 1; i < end; ++i) {
    if (!is_likely(begin + i) || costs[i] >= least) continue;
    least = costs[i];
    first = i;
  }
  DatedChange change = change_at(all.subspan(begin), first);
  change.first += begin;
  return change;
}

}  // namespace fusegate::baselines
