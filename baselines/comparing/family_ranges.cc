#include "baselines/comparing/family_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr double kLevel = 0.01;
constexpr std::size_t kMostRanges = 8;
// On an axis with more values than this only its two ends are tried as ranges: the ranges in the
// middle are as many as the square of the values, and no sweep of shapes is that long.
constexpr std::size_t kMostValues = 128;

using Group = std::vector<std::size_t>;

// Means with weights of inverse variances add and subtract as sums.
struct Sums {
  double weight = 0;
  double weighted = 0;

  double mean() const { return weighted / weight; }
  Sums& operator+=(const Sums& other) {
    weight += other.weight;
    weighted += other.weighted;
    return *this;
  }
  friend Sums operator-(const Sums& all, const Sums& part) {
    return {all.weight - part.weight, all.weighted - part.weighted};
  }
};

Sums sums_of(const FamilyPoint& point) {
  const double weight = 1 / (point.estimate.standard_error * point.estimate.standard_error);
  return {weight, weight * point.estimate.effect};
}

// A range of one axis, both ends in it; or a single point.
struct Part {
  std::size_t axis = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::optional<std::size_t> point;

  bool holds(const std::vector<FamilyPoint>& points, std::size_t index) const {
    if (point) return index == *point;
    const std::int64_t at = points[index].position[axis];
    return low <= at && at <= high;
  }
};

// The best of all parts that were tried.
class Search {
 public:
  Search(const Sums& all, double smallest_difference)
      : all_(all), smallest_difference_(smallest_difference) {}

  void consider(const Sums& inside, const Part& part) {
    ++tried_;
    const Sums outside = all_ - inside;
    const double difference = std::abs(inside.mean() - outside.mean());
    const double error = std::sqrt(1 / inside.weight + 1 / outside.weight);
    // The same cut from another axis differs by rounding: the first one stays.
    constexpr double kRounding = 1e-9;
    if (difference > smallest_difference_ && difference / error > distance_ * (1 + kRounding)) {
      distance_ = difference / error;
      part_ = part;
    }
  }
  // scatter: in squares of standard errors.
  std::optional<Part> significant(const VarianceEstimate& scatter) const {
    const Contrast contrast{distance_, std::sqrt(scatter.variance), scatter.degrees_of_freedom};
    const double p = 2 * p_above(contrast, 0) * static_cast<double>(tried_);
    return p <= kLevel ? part_ : std::nullopt;
  }

 private:
  Sums all_;
  double smallest_difference_;
  std::size_t tried_ = 0;
  double distance_ = 0;  // between the means, in standard errors
  std::optional<Part> part_;
};

// Ranges that end at the axis's last value are what others leave over, and are not tried again.
void search_axis(const std::vector<FamilyPoint>& points, const Group& group, std::size_t axis,
                 Search& search) {
  std::map<std::int64_t, Sums> by_value;
  for (const std::size_t i : group) by_value[points[i].position[axis]] += sums_of(points[i]);
  const std::size_t starts = by_value.size() > kMostValues ? 1 : by_value.size();
  auto first = by_value.begin();
  for (std::size_t i = 0; i + 1 < by_value.size() && i < starts; ++i, ++first) {
    Sums inside;
    for (auto last = first; std::next(last) != by_value.end(); ++last) {
      inside += last->second;
      search.consider(inside, {axis, first->first, last->first, std::nullopt});
    }
  }
}

// The typical difference between neighbours along an axis, in its standard errors. Steps hardly
// move it, as few neighbours have one between them: J. von Neumann et al., "The mean square
// successive difference", Ann. Math. Stat. 12 (1941), 153-162, here by the median.
double scatter_along(const std::vector<FamilyPoint>& points, std::size_t axis) {
  std::vector<const FamilyPoint*> sorted;
  for (const FamilyPoint& point : points) sorted.push_back(&point);
  std::ranges::stable_sort(sorted, {},
                           [axis](const FamilyPoint* point) { return point->position[axis]; });
  std::vector<double> differences;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Estimate& left = sorted[i - 1]->estimate;
    const Estimate& right = sorted[i]->estimate;
    differences.push_back(std::abs(left.effect - right.effect) /
                          std::hypot(left.standard_error, right.standard_error));
  }
  constexpr double kMedianOfNormal = 0.6745;  // of its absolute value
  return median(std::move(differences)) / kMedianOfNormal;
}

// Along the axis on which neighbours agree best: what depends on one axis scatters along another.
// Never less than noise, which is known, and noise alone where there are too few neighbours to tell
// by. What is more is known by about half as many degrees of freedom as there are points; those of
// the sum: F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
// Biometrics Bulletin 2 (1946), 110-114.
VarianceEstimate scatter_of(const std::vector<FamilyPoint>& points) {
  constexpr double kNoise = 1;
  const VarianceEstimate noise{kNoise, std::numeric_limits<double>::infinity()};
  constexpr std::size_t kFewestPoints = 4;
  if (points.size() < kFewestPoints) return noise;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < points.front().position.size(); ++axis) {
    least = std::min(least, scatter_along(points, axis));
  }
  const double variance = least * least;
  if (variance <= kNoise) return noise;
  const double share = variance / (variance - kNoise);
  return {variance, share * share * static_cast<double>(points.size()) / 2};
}

std::optional<Part> best_part(const std::vector<FamilyPoint>& points, const Group& group,
                              double smallest_difference, const VarianceEstimate& scatter) {
  if (group.size() < 2) return std::nullopt;
  Sums all;
  for (const std::size_t i : group) all += sums_of(points[i]);
  Search search(all, smallest_difference);
  for (std::size_t axis = 0; axis < points[group.front()].position.size(); ++axis) {
    search_axis(points, group, axis, search);
  }
  for (const std::size_t i : group) search.consider(sums_of(points[i]), {0, 0, 0, i});
  return search.significant(scatter);
}

}  // namespace

std::vector<std::vector<std::size_t>> agreeing_ranges(const std::vector<FamilyPoint>& points,
                                                      double smallest_difference) {
  Group all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::size_t most = std::min(kMostRanges, std::max<std::size_t>(2, points.size() / 3));
  const VarianceEstimate scatter = scatter_of(points);
  std::vector<Group> open{all};
  std::vector<Group> ranges;
  while (!open.empty()) {
    Group inside = std::move(open.back());
    open.pop_back();
    const auto part = best_part(points, inside, smallest_difference, scatter);
    if (!part) {
      ranges.push_back(std::move(inside));
      continue;
    }
    if (open.size() + ranges.size() + 2 > most) return {all};
    const auto middle = std::stable_partition(
        inside.begin(), inside.end(), [&](std::size_t i) { return part->holds(points, i); });
    open.emplace_back(middle, inside.end());
    inside.erase(middle, inside.end());
    open.push_back(std::move(inside));
  }
  std::ranges::sort(ranges);
  return ranges;
}

}  // namespace fusegate::baselines
