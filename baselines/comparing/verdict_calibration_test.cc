// Whether verdicts keep their promises: on simulated suites, whose truth is known, and on the
// processes of testdata/h200-same-code, between which nothing changed. The seeds are fixed, so a
// failure is a change of the code and not of luck.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baselines/comparing/judge.h"
#include "baselines/comparing/test_simulator.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/load_run.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;

TEST(Calibration, UnchangedSuitesRaiseNoAlarm) {
  for (const int processes : {2, 3, 5}) {
    const Counts counts = simulate({.processes = processes}, 1000);
    // 1 in 100 is what the rate promises where noise is so large that the smallest effect that
    // matters does not show beside it, as that of most of these benchmarks is: 10 of 1,000 suites,
    // and by chance up to 16.
    EXPECT_LE(counts.suites_with_false_calls, 16) << processes;
  }
}

// Every candidate slower by exactly the smallest effect: the worst case of the hypothesis, in which
// one suite in a hundred may have a call. Time alone is used, as asking for cycles too only lowers
// it. Over 6,000 suites it was 1.3 % with two processes a side, 1.0 % with three and 0.8 % with
// five: the simulated noise is log-uniform and not of the prior's shape, which few processes
// feel.
TEST(Calibration, TheLevelHoldsWhereEveryBenchmarkSitsOnTheEdge) {
  for (const int processes : {2, 5}) {
    const Counts counts =
        simulate({.processes = processes, .shift = Rule{}.min_effect, .has_cycles = false}, 1000);
    EXPECT_LE(counts.suites_with_false_calls, 20) << processes;
    EXPECT_GE(counts.suites_with_false_calls, 2) << processes;  // else it is a test of nothing
  }
}

TEST(Calibration, FalseDiscoveriesStayBelowTheRate) {
  // A third is slower by 3 %, the others sit on the edge.
  const Simulation simulation{
      .slowed_share = 1.0 / 3, .slowdown = 0.03, .shift = Rule{}.min_effect};
  const Counts counts = simulate(simulation, 1000);
  EXPECT_LE(counts.false_share_sum / counts.suites, 0.01);
  EXPECT_GT(counts.found, counts.slowed * 0.9);
}

TEST(Calibration, IntervalsCoverAsOftenAsTheySay) {
  for (const int processes : {2, 5}) {
    const double covered = covered_share(simulate({.processes = processes, .shift = 0.01}, 300));
    EXPECT_GE(covered, 0.935) << processes;
    EXPECT_LE(covered, 0.99) << processes;
  }
}

TEST(Calibration, PowerGrowsWithTheEffectAndTheProcesses) {
  const auto power = [](double slowdown, int processes) {
    return found_share(
        simulate({.processes = processes, .slowed_share = 0.1, .slowdown = slowdown}, 100));
  };
  EXPECT_LT(power(Rule{}.min_effect, 5), 0.01);
  EXPECT_GT(power(0.05, 5), 0.95);
  EXPECT_GT(power(0.02, 5), power(0.01, 5) + 0.1);
  EXPECT_GT(power(0.02, 8), power(0.02, 3) + 0.1);
}

// What smallest_detectable says, checked: slow a tenth of a suite of equal noise by just that.
TEST(Calibration, TheSmallestDetectableEffectIsFoundNineTimesInTen) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto make_series = [&](const std::string& name, double ratio) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(1e4 * ratio * std::exp(0.003 * normal(random)));
    return test_series(name, times, 0);
  };
  constexpr int kBenchmarks = 40;
  double detectable = Rule{}.min_effect;
  const auto found_of_slowed = [&](int suites) {
    int found = 0;
    double sum = 0;
    for (int suite = 0; suite < suites; ++suite) {
      fusegate::baselines::Run baseline;
      fusegate::baselines::Run candidate;
      baseline.session = candidate.session = "one";  // of two, the machine's scatter adds to it
      for (int i = 0; i < kBenchmarks; ++i) {
        const std::string name = fmt::format("{:03}", i);
        baseline.benchmarks.push_back(make_series(name, 1));
        candidate.benchmarks.push_back(
            make_series(name, i < kBenchmarks / 10 ? 1 + detectable : 1));
      }
      const auto verdicts = judge(baseline, candidate, {});
      for (const Verdict& verdict : verdicts)
        sum += verdict.estimates.smallest_detectable / kBenchmarks;
      for (int i = 0; i < kBenchmarks / 10; ++i) {
        found += verdicts[static_cast<std::size_t>(i)].kind == VerdictKind::kRegression;
      }
    }
    detectable = sum / suites;
    return found / (suites * kBenchmarks / 10.0);
  };
  found_of_slowed(20);  // to learn what is detectable at this noise
  EXPECT_NEAR(found_of_slowed(200), 0.9, 0.05);
}

fs::path same_code(const std::string& protocol, int process) {
  return fs::path(FUSEGATE_TESTDATA) / "h200-same-code" / protocol /
         (std::to_string(process) + ".json");
}

struct Split {
  Run baseline;
  Run candidate;
};

// Every way to part the four processes of a protocol in two.
std::vector<Split> splits(const std::string& protocol, int baseline_processes) {
  std::vector<Split> result;
  for (unsigned mask = 0; mask < 16; ++mask) {
    std::vector<fs::path> sides[2];
    for (unsigned i = 0; i < 4; ++i) {
      sides[(mask >> i) & 1].push_back(same_code(protocol, static_cast<int>(i) + 1));
    }
    if (static_cast<int>(sides[0].size()) != baseline_processes) continue;
    result.push_back({load_run(sides[0]), load_run(sides[1])});
  }
  return result;
}

TEST(SameCode, NoSplitOfUnchangedCodeIsARegression) {
  for (const char* protocol : {"back-to-back", "warmed-1s", "paced-5ms"}) {
    for (const int baseline_processes : {1, 2, 3}) {
      const auto all = splits(protocol, baseline_processes);
      EXPECT_EQ(all.size(), baseline_processes == 2 ? 6u : 4u);
      for (const auto& [baseline, candidate] : all) {
        const auto verdicts = judge(baseline, candidate, {});
        EXPECT_EQ(verdicts.size(), 8u);
        for (const Verdict& verdict : verdicts) {
          EXPECT_NE(verdict.kind, VerdictKind::kRegression) << protocol << verdict.benchmark;
          EXPECT_NE(verdict.kind, VerdictKind::kImprovement) << protocol << verdict.benchmark;
        }
      }
    }
  }
}

// Of kernels of 20 us and more, two paced processes against two, the candidate's kernels all
// slower: how many are called. Of thirty.
int called_when_slowed(double slowdown) {
  int cases = 0, called = 0;
  for (auto& [baseline, candidate] : splits("paced-5ms", 2)) {
    for (BenchmarkSeries& series : candidate.benchmarks) {
      for (ProcessSummary& process : series.processes) {
        process.time_ns *= 1 + slowdown;
        process.cycles *= 1 + slowdown;
      }
    }
    // Of one session, as all four were: else what all share may be the machine's.
    baseline.session = candidate.session = "one";
    for (const Verdict& verdict : judge(baseline, candidate, {})) {
      if (verdict.baseline.time_ns < 20'000) continue;
      ++cases;
      called += first_sight(verdict) == VerdictKind::kRegression;
    }
  }
  EXPECT_EQ(cases, 30);
  return called;
}

// What two processes a side can do with kernels whose processes differ by 0.1 %: the noise of each
// is borrowed from the others of its length.
TEST(SameCode, ASlowdownIsFound) {
  EXPECT_EQ(called_when_slowed(0.05), 30);
  EXPECT_GE(called_when_slowed(0.02), 27);
  EXPECT_GE(called_when_slowed(0.01), 27);
  EXPECT_EQ(called_when_slowed(0.0012), 0) << "less than the smallest effect";
}

// Where undecided and suspicious benchmarks get more processes: the rule of `fusegate run` and
// `duet`. Nothing stops early for looking slower; a benchmark stops early only where it is
// unchanged; the test is made once, on all that was measured, and a regression must show again in
// what was added.
TEST(SequentialCalibration, UnchangedSuitesRaiseNoAlarm) {
  EXPECT_LE(simulate_sequential({}, 100).suites_with_false_calls, 1);
  // The worst case: every benchmark slower by exactly what does not matter yet.
  const Simulation edge{.shift = Rule{}.min_effect, .has_cycles = false};
  EXPECT_LE(simulate_sequential(edge, 250).suites_with_false_calls, 5);
}

TEST(SequentialCalibration, FalseDiscoveriesStayBelowTheRate) {
  const Counts counts = simulate_sequential(
      {.slowed_share = 1.0 / 3, .slowdown = 0.02, .shift = Rule{}.min_effect}, 80);
  EXPECT_LE(counts.false_share_sum / counts.suites, 0.01);
}

TEST(SequentialCalibration, IntervalsCoverAsOftenAsTheySay) {
  EXPECT_GE(covered_share(simulate_sequential({.shift = 0.004}, 40)), 0.93);
}

TEST(SequentialCalibration, FindsMoreThanTheMinimumAlone) {
  const Simulation simulation{.slowed_share = 0.1, .slowdown = 0.01};
  EXPECT_GT(found_share(simulate_sequential(simulation, 40)),
            found_share(simulate(simulation, 40)) + 0.05);
}

}  // namespace
}  // namespace fusegate::baselines
