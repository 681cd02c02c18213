// Whether error rates hold where undecided and suspicious benchmarks get more invocations: the rule
// of `fusegate run` and `duet`, on simulated suites whose truth is known. Nothing stops early for
// looking slower; a benchmark stops early only where it is unchanged; the test is made once, on all
// that was measured, and a regression must show again in what was added.
#include <gtest/gtest.h>

#include <algorithm>

#include "baselines/comparing/judge.h"
#include "baselines/comparing/test_simulator.h"

namespace fusegate::baselines {
namespace {

constexpr int kMinimum = 5;
constexpr int kMaximum = 15;

class SequentialSuite {
 public:
  SequentialSuite(Simulator& simulator, std::vector<SimulatedBenchmark> suite)
      : simulator_(simulator), suite_(std::move(suite)) {
    for (const SimulatedBenchmark& benchmark : suite_) {
      baseline_.benchmarks.push_back(simulator_.series(benchmark, 1));
      candidate_.benchmarks.push_back(simulator_.series(benchmark, benchmark.ratio));
    }
  }

  std::vector<Verdict> run_to_the_end() {
    auto verdicts = judge(baseline_, candidate_, {});
    for (int round = kMinimum; round < kMaximum; ++round) {
      if (!extend(verdicts)) break;
      verdicts = judge(baseline_, candidate_, {});
    }
    return verdicts;
  }

 private:
  // Whether any benchmark went on.
  bool extend(const std::vector<Verdict>& verdicts) {
    bool any = false;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      if (!goes_on(verdicts[i])) continue;
      add(baseline_.benchmarks[i], 1, suite_[i].noise);
      add(candidate_.benchmarks[i], suite_[i].ratio, suite_[i].noise);
      any = true;
    }
    return any;
  }

  static bool goes_on(const Verdict& verdict) {
    return verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kInconclusive;
  }

  void add(BenchmarkSeries& series, double ratio, double noise) {
    series.invocations.push_back(simulator_.measure(ratio, noise));
    series.invocations.back().extension = true;
  }

  Simulator& simulator_;
  std::vector<SimulatedBenchmark> suite_;
  Run baseline_;
  Run candidate_;
};

Counts simulate_sequential(const Simulation& simulation, int suites) {
  Counts counts;
  Simulator simulator(simulation, 3);
  for (int i = 0; i < suites; ++i) {
    const auto suite = simulator.make_suite();
    Simulator::count(SequentialSuite(simulator, suite).run_to_the_end(), suite, counts);
  }
  return counts;
}

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
