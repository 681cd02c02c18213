#include "baselines/changes/pelt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fusegate::baselines {
namespace {

using Series = std::vector<KnownNormal>;

// Optimal partitioning without pruning and without sums: B. Jackson et al., "An algorithm for
// optimal partitioning of data on an interval", IEEE Signal Process. Lett. 12 (2005), 105-108.
std::vector<std::size_t> by_brute_force(const Series& values, double penalty,
                                        std::size_t shortest) {
  std::vector<double> best{0};
  std::vector<std::vector<std::size_t>> changes{{}};
  for (std::size_t end = 1; end <= values.size(); ++end) {
    best.push_back(std::numeric_limits<double>::infinity());
    changes.emplace_back();
    for (std::size_t begin = 0; begin + shortest <= end; ++begin) {
      const double cost = best[begin] + (begin > 0 ? penalty : 0) +
                          cost_of_one_level(std::span(values).subspan(begin, end - begin));
      if (cost >= best[end]) continue;
      best[end] = cost;
      changes[end] = changes[begin];
      if (begin > 0) changes[end].push_back(begin);
    }
  }
  return changes.back();
}

Series series_of(std::mt19937& random, std::size_t length, double size) {
  std::normal_distribution<double> normal;
  Series values;
  double level = 1000;
  for (std::size_t i = 0; i < length; ++i) {
    if (random() % 12 == 0) level += size * normal(random);
    const double variance = 0.5 + static_cast<double>(random() % 4);
    values.push_back({level + std::sqrt(variance) * normal(random), variance});
  }
  return values;
}

TEST(Pelt, IsOptimalPartitioning) {
  std::mt19937 random(1);
  std::size_t changes = 0;
  for (int i = 0; i < 400; ++i) {
    const Series values = series_of(random, 1 + random() % 60, i % 2 == 0 ? 3 : 30);
    for (const std::size_t shortest : {1, 2, 5}) {
      for (const double penalty : {1.0, 12.0}) {
        const auto found = pelt(values, penalty, shortest);
        EXPECT_EQ(found, by_brute_force(values, penalty, shortest)) << i << " " << shortest;
        changes += found.size();
      }
    }
  }
  EXPECT_GT(changes, 3000u);
}

TEST(Pelt, DatesSteps) {
  Series values(40, {5, 0.01});
  for (std::size_t i = 13; i < 30; ++i) values[i].value = 6;
  EXPECT_EQ(pelt(values, 10), (std::vector<std::size_t>{13, 30}));
  EXPECT_TRUE(pelt({}, 10).empty());
  EXPECT_TRUE(pelt(Series(40), 10).empty());
}

TEST(Pelt, WeightsByVariances) {
  const KnownNormal mean = weighted_mean(Series{{1, 1}, {3, 3}});
  EXPECT_DOUBLE_EQ(mean.value, 1.5);
  EXPECT_DOUBLE_EQ(mean.variance, 0.75);
}

}  // namespace
}  // namespace fusegate::baselines
