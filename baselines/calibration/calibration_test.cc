#include "baselines/calibration/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/calibrate.h"
#include "baselines/calibration/test_pool.h"
#include "baselines/io/error.h"
#include "baselines/record/test_run.h"

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

// One benchmark, no smallest effect, and a rate of 20 %: the gate is then a t test at 20 % to either
// side, and calls unchanged code as often, but for what a machine may do to a single benchmark. Time
// and cycles are alike, so both agree.
TEST(Calibrate, CountsFalseAlarmsAtAKnownRate) {
  const CalibrationPool pool =
      simulated_pool({.invocations = 200, .spread = 0.01, .times_ns = {50'000}});
  CalibrationOptions options;
  options.rule.min_effect = 0;
  options.rule.false_discovery_rate = 0.2;
  options.comparisons = 500;
  const Calibration calibration = calibrate(pool, options);
  const FalseAlarms& alarms = calibration.rules.at(0).same_card.alarms;
  EXPECT_EQ(alarms.regressions.of, 500);
  for (const Rate& rate : {alarms.regressions, alarms.improvements}) {
    EXPECT_LE(rate.share(), 0.25);
    EXPECT_GE(rate.share(), 0.1);
  }
  EXPECT_EQ(alarms.regressions.bounds().low < 0.2, true);
}

TEST(Calibrate, FindsWhatIsSlowedAndNothingElse) {
  CalibrationOptions options{.comparisons = 300};
  options.rule.min_effect = 0.005;
  const Calibration calibration = calibrate(simulated_pool({.spread = 0.0003}), options);
  const RuleCalibration& own = calibration.rules.at(0);
  ASSERT_EQ(own.same_card.detection.size(), 3u);
  const Detection& two_percent = own.same_card.detection[2];
  EXPECT_EQ(two_percent.slowdown, 0.02);
  for (const Rate& found : two_percent.found) {
    EXPECT_EQ(found.of, 100);  // three families, one benchmark each, slowed in turn
    EXPECT_EQ(found.count, 100);
  }
  EXPECT_EQ(two_percent.outside.count, 0);
  EXPECT_EQ(two_percent.outside.of, 300);
  // Half a percent is what does not matter to the gate's rule, and is found by the sharper one.
  EXPECT_LE(own.same_card.detection[0].found[0].share(), 0.02);
  EXPECT_EQ(calibration.rules.at(1).rule.min_effect, 0.001);
  EXPECT_GE(calibration.rules.at(1).same_card.detection[0].found[0].share(), 0.7);
  EXPECT_EQ(own.same_card.alarms.regressions.count, 0);
}

TEST(Calibrate, SlowsAWholeFamily) {
  const SimulatedRun simulated{.spread = 0.0003,
                               .times_ns = {50'000, 40'000, 1'000},
                               .names = {"geglu/fused/bf16/batch:1", "geglu/fused/bf16/batch:8",
                                         "linear/addmm/bf16/batch:1"}};
  const Calibration calibration = calibrate(simulated_pool(simulated), {.comparisons = 100});
  const Detection& two_percent = calibration.rules.at(0).same_card.detection.at(2);
  EXPECT_EQ(two_percent.found[0].of, 100);  // two benchmarks in 50 of the 100 comparisons
  EXPECT_EQ(two_percent.found[2].of, 50);
}

TEST(Calibrate, SaysWhatItsOwnDrawsFind) {
  const Calibration calibration =
      calibrate(simulated_pool({.spread = 0.002, .times_ns = std::vector<double>(30, 50'000)}),
                {.comparisons = 100});
  const Quantiles& detectable = calibration.rules.at(0).same_card.smallest_detectable[0];
  EXPECT_EQ(detectable.benchmarks, 30);
  EXPECT_GT(detectable.median, 0.007);
  EXPECT_LT(detectable.median, 0.02);
  EXPECT_GT(calibration.benchmarks.at(0).smallest_detectable, 0.005);
  EXPECT_TRUE(std::isnan(calibration.rules.at(0).same_card.smallest_detectable[1].median));
}

TEST(Calibrate, DependsOnTheSeedAlone) {
  const CalibrationPool pool = simulated_pool({.spread = 0.004});
  const auto found = [&](std::uint64_t seed) {
    const Calibration calibration = calibrate(pool, {.comparisons = 200, .seed = seed});
    return calibration.rules.at(0).same_card.detection.at(1).found[0].count;
  };
  EXPECT_EQ(found(1), found(1));
  EXPECT_NE(found(1), found(3));
}

TEST(Calibrate, ComparesCardsAndWholeRunsOnTheirOwn) {
  std::mt19937_64 random(1);
  const SimulatedRun first{.invocations = 5, .spread = 0.0005};
  const SimulatedRun twice{
      .device_uuid = "GPU-2", .invocations = 5, .spread = 0.0005, .shift = std::log(2)};
  const CalibrationPool pool =
      pool_runs({simulate(first, random), simulate(first, random), simulate(twice, random)});
  const Calibration calibration = calibrate(pool, {.comparisons = 200});
  const RuleCalibration& own = calibration.rules.at(0);
  EXPECT_EQ(own.same_card.alarms.regressions.count, 0);
  EXPECT_EQ(own.same_card_runs.regressions.of, 2);
  EXPECT_EQ(own.same_card_runs.regressions.count, 0);
  // One card takes twice as long, more than cards do: slower one way round, faster the other.
  EXPECT_EQ(own.other_card.regressions.count + own.other_card.improvements.count, 200);
  EXPECT_EQ(own.other_card_runs.regressions.of, 4);
  EXPECT_EQ(own.other_card_runs.regressions.count, 2);
  ASSERT_TRUE(calibration.between_card);
  EXPECT_NEAR(calibration.between_card->all.time, std::log(2) / std::sqrt(2), 0.001);
}

// Two arms whose machine moves by 2 % from block to block, and by 0.03 % within one.
CalibrationPool pool_of_two_arms() {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  const SimulatedRun simulated{.invocations = 8, .spread = 0.0003};
  std::vector<fusegate::baselines::Run> arms{simulate(simulated, random),
                                             simulate(simulated, random)};
  for (int block = 0; block < simulated.invocations; ++block) {
    const double moved = std::exp(0.02 * normal(random));
    for (fusegate::baselines::Run& arm : arms) {
      arm.session = "one command";
      for (BenchmarkSeries& series : arm.benchmarks) {
        InvocationSummary& summary = series.invocations[static_cast<std::size_t>(block)];
        summary.time_ns *= moved;
        summary.cycles *= moved;
        summary.block = block + 1;
      }
    }
  }
  return pool_runs(arms);
}

TEST(Calibrate, ComparesSideBySideWhatWasMeasuredSo) {
  const Calibration calibration = calibrate(pool_of_two_arms(), {.comparisons = 120});
  const RuleCalibration& own = calibration.rules.at(0);
  EXPECT_EQ(own.side_by_side.alarms.regressions.of, 120);
  EXPECT_EQ(own.side_by_side.alarms.regressions.count, 0);
  EXPECT_EQ(own.side_by_side.detection.at(1).found[0].share(), 1);
  EXPECT_LT(own.same_card.detection.at(1).found[0].share(), 0.1);
  EXPECT_LT(own.side_by_side.smallest_detectable[0].max, 0.01);
  EXPECT_GT(own.same_card.smallest_detectable[0].median, 0.02);
  EXPECT_EQ(calibration.possible_side_by_side, 56 * 32);
}

TEST(Calibrate, NeverSlowsAControl) {
  SimulatedRun simulated{.spread = 0.0003, .controls = 20};
  simulated.times_ns.assign(21, 50'000);
  for (int i = 0; i < 20; ++i) simulated.names.push_back("copy/memcpy/batch:" + std::to_string(i));
  simulated.names.emplace_back("geglu/fused/batch:1");
  const Calibration calibration = calibrate(simulated_pool(simulated), {.comparisons = 50});
  const Detection& two_percent = calibration.rules.at(0).same_card.detection.at(2);
  EXPECT_EQ(two_percent.found[0].of, 50);
  EXPECT_EQ(two_percent.found[0].count, 50);
  SimulatedRun controls = simulated;
  controls.controls = 21;
  EXPECT_TRUE(calibrate(simulated_pool(controls), {.comparisons = 5})
                  .rules.at(0)
                  .same_card.detection.empty());
}

TEST(Calibrate, LeavesRatesEmptyWhereNothingCanBeDrawn) {
  const Calibration calibration = calibrate(simulated_pool({.invocations = 3}), {});
  EXPECT_EQ(calibration.rules.at(0).same_card.alarms.regressions.of, 0);
  EXPECT_TRUE(std::isnan(calibration.benchmarks.at(0).smallest_detectable));
  EXPECT_EQ(calibration.possible_draws, 0);
  EXPECT_EQ(calibration.spread[0].time.quantiles.benchmarks, 1);
}

TEST(Calibrate, NeedsTwoInvocationsOfACard) {
  EXPECT_THAT([] { calibrate(simulated_pool({.invocations = 1}), {}); },
              ThrowsMessage<InputError>(HasSubstr("two invocations on one card")));
}

TEST(Calibrate, JudgesOnceWhereTheGateIsAsSharp) {
  CalibrationOptions options{.comparisons = 1};
  options.rule.min_effect = options.sharp_min_effect;
  EXPECT_EQ(calibrate(simulated_pool({}), options).rules.size(), 1u);
}

}  // namespace
}  // namespace fusegate::baselines
