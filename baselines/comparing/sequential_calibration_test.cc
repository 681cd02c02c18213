// Whether error rates hold where undecided and suspicious benchmarks get more processes: the rule
// of `fusegate run` and `duet`, on simulated suites whose truth is known. Nothing stops early for
// looking slower; a benchmark stops early only where it is unchanged; the test is made once, on all
// that was measured, and a regression must show again in what was added.
#include <gtest/gtest.h>

#include "baselines/comparing/test_simulator.h"

namespace fusegate::baselines {
namespace {

TEST(SequentialCalibration, UnchangedSuitesRaiseNoAlarm) {
  EXPECT_LE(simulate_sequential({}, 100).suites_with_false_calls, 1);
}

// The worst case: every benchmark slower by exactly what does not matter yet.
TEST(SequentialCalibration, TheLevelHoldsOnTheEdge) {
  const Counts counts = simulate_sequential({.shift = Rule{}.min_effect, .has_cycles = false}, 250);
  EXPECT_LE(counts.suites_with_false_calls, 5);
}

TEST(SequentialCalibration, FalseDiscoveriesStayBelowTheRate) {
  const Counts counts = simulate_sequential(
      {.slowed_share = 1.0 / 3, .slowdown = 0.02, .shift = Rule{}.min_effect}, 80);
  EXPECT_LE(counts.false_share_sum / counts.suites, 0.01);
}

TEST(SequentialCalibration, IntervalsCoverAsOftenAsTheySay) {
  const Counts counts = simulate_sequential({.shift = 0.004}, 40);
  EXPECT_GE(static_cast<double>(counts.covered) / counts.judged, 0.93);
}

TEST(SequentialCalibration, FindsMoreThanTheMinimumAlone) {
  const Simulation simulation{.slowed_share = 0.1, .slowdown = 0.01};
  const Counts alone = simulate(simulation, 40);
  const Counts sequential = simulate_sequential(simulation, 40);
  EXPECT_GT(static_cast<double>(sequential.found) / sequential.slowed,
            static_cast<double>(alone.found) / alone.slowed + 0.05);
}

}  // namespace
}  // namespace fusegate::baselines
