#include "baselines/changes/pelt.h"

#include <algorithm>
#include <limits>

namespace fusegate::baselines {
namespace {

// Sums before each element, about the first value: levels may lie far from zero.
class LevelCosts {
 public:
  explicit LevelCosts(std::span<const KnownNormal> values) : sums_(1) {
    for (const KnownNormal& own : values) {
      const double value = own.value - values.front().value, weight = 1 / own.variance;
      const Sums& last = sums_.back();
      sums_.push_back({last.weight + weight, last.value + weight * value,
                       last.square + weight * value * value});
    }
  }

  double operator()(std::size_t begin, std::size_t end) const {
    const Sums &a = sums_[begin], &b = sums_[end];
    const double value = b.value - a.value;
    return std::max(0.0, b.square - a.square - value * value / (b.weight - a.weight));
  }

 private:
  struct Sums {
    double weight = 0, value = 0, square = 0;
  };
  std::vector<Sums> sums_;
};

struct Candidate {
  std::size_t begin;  // of the last segment
  std::size_t useless_from = std::numeric_limits<std::size_t>::max();
};

std::vector<std::size_t> path_to_end(const std::vector<std::size_t>& last_begin) {
  std::vector<std::size_t> begins;
  for (std::size_t end = last_begin.size() - 1; last_begin[end] > 0; end = last_begin[end]) {
    begins.push_back(last_begin[end]);
  }
  std::ranges::reverse(begins);
  return begins;
}

}  // namespace

KnownNormal weighted_mean(std::span<const KnownNormal> values) {
  double weights = 0, sum = 0;
  for (const KnownNormal& own : values) {
    weights += 1 / own.variance;
    sum += own.value / own.variance;
  }
  return {sum / weights, 1 / weights};
}

double cost_of_one_level(std::span<const KnownNormal> values) {
  return values.empty() ? 0 : LevelCosts(values)(0, values.size());
}

std::vector<std::size_t> pelt(std::span<const KnownNormal> values, double penalty,
                              std::size_t shortest) {
  const std::size_t count = values.size();
  if (count < 2 * shortest) return {};
  const LevelCosts cost(values);
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> last_begin(count + 1);
  best[0] = -penalty;
  std::vector<Candidate> candidates{{0}};
  for (std::size_t end = shortest; end <= count; ++end) {
    if (end >= 2 * shortest) candidates.push_back({end - shortest});
    std::erase_if(candidates, [&](const Candidate& own) { return own.useless_from <= end; });
    for (const Candidate& own : candidates) {
      const double sum = best[own.begin] + cost(own.begin, end) + penalty;
      if (sum < best[end]) best[end] = sum, last_begin[end] = own.begin;
    }
    // Once a segment from here on is long enough, it costs no more to begin it here.
    for (Candidate& own : candidates) {
      if (best[own.begin] + cost(own.begin, end) <= best[end]) continue;
      own.useless_from = std::min(own.useless_from, end + shortest);
    }
  }
  return path_to_end(last_begin);
}

}  // namespace fusegate::baselines
