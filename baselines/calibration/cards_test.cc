#include "baselines/calibration/cards.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/test_pool.h"

namespace fusegate::baselines {
namespace {

TEST(BetweenGroupsVariance, IsTheAnovaEstimate) {
  // Means 1 and 5, within 2 each of two values: mean square between 2 * 8 = 16, within 2.
  EXPECT_DOUBLE_EQ(between_groups_variance({{0, 2}, {4, 6}}), (16 - 2) / 2.0);
  // Sizes 1 and 3: n0 = (4 - 10 / 4) / 1 = 1.5. Means 0 and 4, grand mean 3, so 9 + 3 = 12 between.
  EXPECT_DOUBLE_EQ(between_groups_variance({{0}, {3, 4, 5}}), (12 - 1) / 1.5);
}

TEST(BetweenGroupsVariance, StaysNegativeWhereMeansAgreeTooWell) {
  EXPECT_DOUBLE_EQ(between_groups_variance({{0, 2}, {0, 2}}), -1);
}

TEST(BetweenGroupsVariance, IsUnknownWithoutGroupsOrReplicates) {
  EXPECT_TRUE(std::isnan(between_groups_variance({{1, 2}})));
  EXPECT_TRUE(std::isnan(between_groups_variance({{1}, {2}})));
  EXPECT_TRUE(std::isnan(between_groups_variance({{1, std::nan("")}, {2, 3}})));
}

const std::vector<DurationClass> kClasses(kDurationClasses.begin(), kDurationClasses.end());

// Cards that shift all their kernels by a standard deviation of 0.4 %, five processes each.
TEST(BetweenCard, IsFoundUnderTheNoiseOfTheMeans) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<fusegate::baselines::Run> runs;
  for (int card = 0; card < 200; ++card) {
    runs.push_back(simulate({.device_uuid = "GPU-" + std::to_string(card),
                             .processes = 5,
                             .spread = 0.01,
                             .shift = 0.004 * normal(random)},
                            random));
  }
  const auto between = between_card(pool_runs(std::move(runs)), kClasses);
  ASSERT_TRUE(between);
  EXPECT_EQ(between->cards, 200);
  EXPECT_EQ(between->all.benchmarks, 3);
  EXPECT_NEAR(between->all.time, 0.004, 0.0006);  // the means alone spread by 0.006
  EXPECT_NEAR(between->all.cycles, 0.004, 0.0006);
}

TEST(BetweenCard, IsFlooredOnceAveraged) {
  std::mt19937_64 random(4);
  std::vector<double> times(500, 50'000);
  const auto run = [&](const char* uuid) {
    return simulate({.device_uuid = uuid, .processes = 5, .spread = 0.01, .times_ns = times},
                    random);
  };
  const CalibrationPool pool = pool_runs({run("GPU-1"), run("GPU-2")});
  const auto between =
      between_card(pool, std::vector<DurationClass>(times.size(), DurationClass::kLong));
  // Each benchmark's own estimate is positive as often as not, by up to 1e-4.
  EXPECT_LT(between->all.time, 0.002);
  EXPECT_EQ(between->classes[1].benchmarks, 0);
  EXPECT_TRUE(std::isnan(between->classes[1].time));
}

TEST(BetweenCard, KeepsComputeAndMemoryBoundApart) {
  std::mt19937_64 random(5);
  fusegate::baselines::Run first = simulate({.device_uuid = "GPU-1", .spread = 1e-5}, random);
  fusegate::baselines::Run second = simulate({.device_uuid = "GPU-2", .spread = 1e-5}, random);
  for (fusegate::baselines::Run* run : {&first, &second}) {
    run->benchmarks[0].counters = {{"flops", 200}, {"min_bytes", 1}};
    run->benchmarks[1].counters = {{"flops", 1}, {"min_bytes", 1}};
  }
  for (ProcessSummary& summary : second.benchmarks[0].processes) summary.time_ns *= 1.02;
  const auto between = between_card(pool_runs({first, second}), kClasses);
  EXPECT_EQ(between->compute_bound.benchmarks, 1);
  EXPECT_NEAR(between->compute_bound.time, std::log(1.02) / std::sqrt(2), 1e-4);
  EXPECT_NEAR(between->compute_bound.cycles, 0, 1e-4);
  EXPECT_EQ(between->memory_bound.benchmarks, 1);
  EXPECT_NEAR(between->memory_bound.time, 0, 1e-4);
}

TEST(BetweenCard, IsNothingForOneCard) {
  std::mt19937_64 random(6);
  const CalibrationPool pool = pool_runs({simulate({}, random), simulate({}, random)});
  EXPECT_FALSE(between_card(pool, kClasses));
}

BenchmarkSeries with_counters(double flops, double min_bytes) {
  BenchmarkSeries series;
  series.counters = {{"flops", flops}, {"min_bytes", min_bytes}};
  return series;
}

TEST(BoundOf, FollowsFromArithmeticIntensity) {
  EXPECT_EQ(bound_of(with_counters(100, 1)), Bound::kCompute);
  EXPECT_EQ(bound_of(with_counters(99, 1)), Bound::kMemory);
  EXPECT_EQ(bound_of(with_counters(1, 0)), std::nullopt);
  EXPECT_EQ(bound_of(with_counters(std::nan(""), 1)), std::nullopt);
  EXPECT_EQ(bound_of({}), std::nullopt);
}

TEST(DeviationFactors, AreThoseOfChiSquare) {
  // R: sqrt(1 / qchisq(c(.975, .025), 1)), sqrt(10 / qchisq(c(.975, .025), 10))
  EXPECT_NEAR(deviation_factors(1).low, 0.4461, 1e-4);
  EXPECT_NEAR(deviation_factors(1).high, 31.91, 1e-2);
  EXPECT_NEAR(deviation_factors(10).low, 0.6987, 1e-4);
  EXPECT_NEAR(deviation_factors(10).high, 1.7549, 1e-4);
}

}  // namespace
}  // namespace fusegate::baselines
