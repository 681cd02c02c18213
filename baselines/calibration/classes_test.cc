#include "baselines/calibration/classes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::baselines {
namespace {

TEST(DurationClass, BoundariesBelongToTheLonger) {
  EXPECT_EQ(duration_class(20'000), DurationClass::kLong);
  EXPECT_EQ(duration_class(19'999.9), DurationClass::kMedium);
  EXPECT_EQ(duration_class(3'000), DurationClass::kMedium);
  EXPECT_EQ(duration_class(2'999.9), DurationClass::kShort);
}

TEST(DurationClass, KeysTitlesAndTargetsAreInOneOrder) {
  EXPECT_EQ(duration_class_key(DurationClass::kLong), "from_20_us");
  EXPECT_EQ(duration_class_title(DurationClass::kMedium), "3 to 20 us");
  EXPECT_EQ(spread_target(DurationClass::kLong), 0.001);
  EXPECT_EQ(spread_target(DurationClass::kShort), 0.005);
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

}  // namespace
}  // namespace fusegate::baselines
