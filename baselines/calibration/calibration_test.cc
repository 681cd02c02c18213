#include "baselines/calibration/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/calibrate.h"
#include "baselines/calibration/test_pool.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Rate, BoundsAreThoseOfClopperAndPearson) {
  // R: binom.test(c(0, 1000)), binom.test(c(5, 95)) and binom.test(c(3, 0))
  const Rate none{0, 1000};
  EXPECT_DOUBLE_EQ(none.bounds().low, 0);
  EXPECT_NEAR(none.bounds().high, 0.003682, 1e-6);
  const Rate some{5, 100};
  EXPECT_NEAR(some.bounds().low, 0.01643, 1e-5);
  EXPECT_NEAR(some.bounds().high, 0.11283, 1e-5);
  const Rate all{3, 3};
  EXPECT_NEAR(all.bounds().low, 0.29240, 1e-5);
  EXPECT_DOUBLE_EQ(all.bounds().high, 1);
  EXPECT_TRUE(std::isnan(Rate{}.share()));
}

CalibrationPool simulated_pool(const SimulatedRun& simulated, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  return pool_runs({simulate(simulated, random)});
}

// One benchmark, no smallest effect, and a rate of 20 %: the gate is then a t test at 20 % to
// either side, and calls unchanged code as often, but for what a machine may do to a single
// benchmark. Time and cycles are alike, so both agree.
TEST(Calibrate, CountsFalseAlarmsAtAKnownRate) {
  const CalibrationPool pool =
      simulated_pool({.processes = 200, .spread = 0.01, .times_ns = {50'000}});
  CalibrationOptions options;
  options.rule.min_effect = 0;
  options.rule.false_discovery_rate = 0.2;
  options.comparisons = 500;
  const Calibration calibration = calibrate(pool, options);
  const FalseAlarms& alarms = calibration.alarms;
  EXPECT_EQ(alarms.regressions.of, 500);
  for (const Rate& rate : {alarms.regressions, alarms.improvements}) {
    EXPECT_LE(rate.share(), 0.25);
    EXPECT_GE(rate.share(), 0.1);
  }
  EXPECT_EQ(alarms.regressions.bounds().low < 0.2, true);
}

TEST(Calibrate, SaysWhatItsOwnDrawsFind) {
  const Calibration calibration =
      calibrate(simulated_pool({.spread = 0.002, .times_ns = std::vector<double>(30, 50'000)}),
                {.comparisons = 100});
  const Quantiles& detectable = calibration.smallest_detectable[0];
  EXPECT_EQ(detectable.benchmarks, 30);
  EXPECT_GT(detectable.median, 0.007);
  EXPECT_LT(detectable.median, 0.02);
  EXPECT_GT(calibration.benchmarks.at(0).smallest_detectable, 0.005);
  EXPECT_TRUE(std::isnan(calibration.smallest_detectable[1].median));
}

TEST(Calibrate, DependsOnTheSeedAlone) {
  const CalibrationPool pool = simulated_pool({.spread = 0.004});
  const auto detectable = [&](std::uint64_t seed) {
    return calibrate(pool, {.comparisons = 20, .seed = seed}).smallest_detectable[0].median;
  };
  EXPECT_EQ(detectable(1), detectable(1));
  EXPECT_NE(detectable(1), detectable(3));
}

TEST(Calibrate, LeavesRatesEmptyWhereNothingCanBeDrawn) {
  const Calibration calibration = calibrate(simulated_pool({.processes = 3}), {});
  EXPECT_EQ(calibration.alarms.regressions.of, 0);
  EXPECT_TRUE(std::isnan(calibration.benchmarks.at(0).smallest_detectable));
  EXPECT_EQ(calibration.spread[0].time.quantiles.benchmarks, 1);
}

TEST(Calibrate, NeedsTwoProcessesOfACard) {
  EXPECT_THAT([] { calibrate(simulated_pool({.processes = 1}), {}); },
              ThrowsMessage<InputError>(HasSubstr("two processes on one card")));
}

}  // namespace
}  // namespace fusegate::baselines
