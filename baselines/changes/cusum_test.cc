#include "baselines/changes/cusum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>

#include "baselines/statistics/student_t.h"

namespace fusegate::baselines {
namespace {

Cusum after(std::initializer_list<double> nights) {
  Cusum cusum;
  for (const double night : nights) cusum.add(night, {});
  return cusum;
}

TEST(Cusum, OneOddNightIsNoAlarmAndTwoAre) {
  EXPECT_EQ(after({0, 100}).alarm({}), 0);
  EXPECT_EQ(after({0, 100, 0, 0, 100}).alarm({}), 0);
  EXPECT_EQ(after({0, 100, 100}).alarm({}), 1);
  EXPECT_EQ(after({0, -100, -100}).alarm({}), -1);
}

TEST(Cusum, SmallEffectsAddUpBeyondTheReference) {
  Cusum cusum;
  int nights = 0;
  for (; cusum.alarm({}) == 0; ++nights) cusum.add(1.5, {});
  EXPECT_EQ(nights, 10);
  cusum.reset();
  for (int i = 0; i < 1000; ++i) cusum.add(i % 2 == 0 ? 0.99 : -0.99, {});
  EXPECT_EQ(cusum.up(), 0);
  EXPECT_EQ(cusum.down(), 0);
}

// D. Siegmund, "Sequential analysis" (1985), (2.57): on average one alarm in (exp(2kb) - 2kb - 1) /
// 2k^2 nights a side, b = h + 1.166; 15 200 for k = 1, h = 4.
TEST(Cusum, FalseAlarmsAreAsRareAsTheirTheorySays) {
  const CusumRule rule{.threshold = 4};
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Cusum cusum;
  int alarms = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    cusum.add(normal(random), rule);
    if (cusum.alarm(rule) == 0) continue;
    ++alarms;
    cusum.reset();
  }
  EXPECT_NEAR(alarms, 2 * 1e6 / 15'200, 35);
}

TEST(NormalScore, HasTheTailOfT) {
  for (const double degrees_of_freedom : {3.0, 5.0, 20.0, 300.0}) {
    for (const double z : {0.5, 1.0, 2.0, 3.5}) {
      const double t = t_upper_quantile(t_upper_tail(z, INFINITY), degrees_of_freedom);
      EXPECT_NEAR(normal_score(t, degrees_of_freedom), z, 0.1) << degrees_of_freedom;
      EXPECT_EQ(normal_score(-t, degrees_of_freedom), -normal_score(t, degrees_of_freedom));
    }
  }
  EXPECT_EQ(normal_score(2, INFINITY), 2);
}

}  // namespace
}  // namespace fusegate::baselines
