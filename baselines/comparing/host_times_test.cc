#include "baselines/comparing/host_times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

// Whose calls take the host so long, a process a value.
BenchmarkSeries hosted(std::string name, const std::vector<double>& host_ns,
                       double ProcessSummary::*field = &ProcessSummary::host_ns) {
  BenchmarkSeries series = test_series(std::move(name), std::vector<double>(host_ns.size(), 1e5));
  for (std::size_t i = 0; i < host_ns.size(); ++i) series.processes[i].*field = host_ns[i];
  return series;
}

Run run_of(std::vector<BenchmarkSeries> benchmarks) {
  Run run = test_run(std::move(benchmarks));
  number_processes(run);
  return run;
}

// Four processes that agree within 2 %.
std::vector<double> about(double ns) { return {0.99 * ns, ns, 1.01 * ns, ns}; }

// A single benchmark of both sides.
std::vector<HostChange> changes(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate,
                                const HostRule& host = {}) {
  return compare_host_times(run_of({baseline}), run_of({candidate}), {.host = host}).changes;
}

std::vector<HostChange> changes(const std::vector<double>& baseline,
                                const std::vector<double>& candidate, const HostRule& host = {}) {
  return changes(hosted("a", baseline), hosted("a", candidate), host);
}

auto is_called(HostVerdict verdict, HostLaunch launch = HostLaunch::kStream) {
  return ElementsAre(AllOf(Field(&HostChange::verdict, verdict), Field(&HostChange::launch, launch),
                           Field(&HostChange::obstacle, HostObstacle::kNone)));
}

auto looks_slower(HostObstacle obstacle) {
  return ElementsAre(AllOf(Field(&HostChange::verdict, HostVerdict::kLooksSlower),
                           Field(&HostChange::obstacle, obstacle)));
}

TEST(HostTimes, TwentyMicrosecondsBeforeALaunchAreCalled) {
  const auto found = changes(about(9100), about(29200));
  ASSERT_THAT(found, is_called(HostVerdict::kSlower));
  EXPECT_EQ(found[0].benchmark, "a");
  EXPECT_NEAR(found[0].effect, 2.209, 0.001);
  EXPECT_GT(found[0].interval.low, 2);
  EXPECT_LT(found[0].interval.high, 2.5);
  EXPECT_NEAR(found[0].baseline_ns, 9100, 0.001);
  EXPECT_NEAR(found[0].candidate_ns, 29200, 0.001);
  EXPECT_LE(found[0].p, Rule{}.false_discovery_rate);
}

TEST(HostTimes, BothSmallestEffectsMustBeExceeded) {
  EXPECT_THAT(changes(about(2000), about(2500)), IsEmpty()) << "25 % and 0.5 us";
  EXPECT_THAT(changes(about(50000), about(53000)), IsEmpty()) << "6 % and 3 us";
  EXPECT_THAT(changes(about(2000), about(4000)), SizeIs(1)) << "100 % and 2 us";
  EXPECT_THAT(changes(about(50000), about(60000)), SizeIs(1)) << "20 % and 10 us";
  // The suite sets them.
  EXPECT_THAT(changes(about(2000), about(2500), {.min_effect = 0.1, .min_ns = 200}), SizeIs(1));
  EXPECT_THAT(changes(about(2000), about(2500), {.min_effect = 0.1, .min_ns = 600}), IsEmpty());
  EXPECT_THAT(changes(about(2000), about(2500), {.min_effect = 0.3, .min_ns = 200}), IsEmpty());
}

TEST(HostTimes, WhatTakesTheHostLessIsFoundByTheSameRule) {
  const auto found = changes(about(29200), about(9100));
  ASSERT_THAT(found, is_called(HostVerdict::kFaster));
  EXPECT_NEAR(found[0].effect, -0.688, 0.001);
  EXPECT_THAT(changes(about(2000), about(1200)), IsEmpty()) << "40 % and 0.8 us";
  EXPECT_THAT(changes({29200, 29300, 29100}, {9100, 9200, 9000}), IsEmpty()) << "three processes";
}

TEST(HostTimes, IdenticalCodeOnTheDeviceExcusesNone) {
  EXPECT_THAT(
      changes(doing(hosted("a", about(5000)), "0f"), doing(hosted("a", about(10000)), "0f")),
      is_called(HostVerdict::kSlower));
}

TEST(HostTimes, GraphsAreJudgedByThemselves) {
  const auto graph = &ProcessSummary::host_graph_ns;
  EXPECT_THAT(changes(hosted("a", about(5000), graph), hosted("a", about(10000), graph)),
              is_called(HostVerdict::kSlower, HostLaunch::kGraph));
}

TEST(HostTimes, BenchmarksWithoutThemAreLeftAlone) {
  const auto baseline = run_of({hosted("a", about(5000)), test_series("b", kQuiet),
                                hosted("gone", about(5000)), failed_series("failed", "wrong")});
  const auto candidate = run_of({hosted("a", about(5000)), test_series("b", kQuiet),
                                 hosted("failed", about(5000)), hosted("new", about(5000))});
  const HostTimes times = compare_host_times(baseline, candidate, {});
  EXPECT_THAT(times.changes, IsEmpty());
  EXPECT_EQ(times.compared, 1u);
}

TEST(HostTimes, FewProcessesAreShownAndCallNothing) {
  const std::vector<double> three{9100, 9200, 9000}, two{29200, 29300};
  EXPECT_THAT(changes(three, about(29200)), looks_slower(HostObstacle::kFewProcesses));
  EXPECT_THAT(changes(about(9100), two), looks_slower(HostObstacle::kFewProcesses));
  EXPECT_THAT(changes({9100}, about(29200)), looks_slower(HostObstacle::kOneValue));
  EXPECT_THAT(changes(about(9100), {29200}), looks_slower(HostObstacle::kOneValue));
  EXPECT_THAT(changes({9100}, {29200}), looks_slower(HostObstacle::kOneValue));
  EXPECT_THAT(changes({9100}, {9900}), IsEmpty());
  EXPECT_THAT(changes({29200}, {9100}), IsEmpty());
}

TEST(HostTimes, TwoFreshProcessesConfirmAsInTime) {
  BenchmarkSeries extended = hosted("a", {29200, 29300, 29100});
  extended.processes[1].extension = extended.processes[2].extension = true;
  EXPECT_THAT(changes(hosted("a", about(9100)), extended), is_called(HostVerdict::kSlower));
}

TEST(HostTimes, TheMedianOfAnOlderBaselineIsOneValue) {
  BenchmarkSeries old = test_series("a", kQuiet);
  old.counters = {{"host_ns", 9100}};
  const auto found = changes(old, hosted("a", about(29200)));
  ASSERT_THAT(found, looks_slower(HostObstacle::kOneValue));
  EXPECT_NEAR(found[0].baseline_ns, 9100, 0.001);
  old.counters["host_ns"] = 29000;
  EXPECT_THAT(changes(old, hosted("a", about(29200))), IsEmpty());
}

TEST(HostTimes, OfAnotherHostTheyAreReportedAndNeverCalled) {
  auto baseline = run_of({hosted("a", about(9100)), hosted("b", about(29200))});
  auto candidate = run_of({hosted("a", about(29200)), hosted("b", about(9100))});
  const auto expect_called = [&](bool called) {
    const HostTimes times = compare_host_times(baseline, candidate, {});
    EXPECT_EQ(times.other_host, !called);
    EXPECT_EQ(times.changes.size(), called ? 2u : 1u) << "a gain is the machine's";
    EXPECT_EQ(times.changes.at(0).benchmark, "a");
    EXPECT_EQ(times.changes[0].obstacle, called ? HostObstacle::kNone : HostObstacle::kOtherHost);
    EXPECT_EQ(times.changes[0].verdict, called ? HostVerdict::kSlower : HostVerdict::kLooksSlower);
  };
  baseline.provenance.host = "node-1";
  expect_called(true);  // nothing says that the candidate's is another
  candidate.provenance.host = "node-1";
  expect_called(true);
  candidate.provenance.host = "node-2";
  expect_called(false);
  baseline.session = candidate.session = "one";
  expect_called(true);  // whatever a container calls itself
  baseline.session = candidate.session = "";
  candidate.provenance.host = "node-1";
  baseline.provenance.cpu = "Xeon";
  candidate.provenance.cpu = "EPYC";
  expect_called(false);
}

// Of many benchmarks, host times from 2 to 30 us.
std::vector<double> spread_out(std::size_t benchmarks) {
  std::vector<double> ns;
  for (std::size_t i = 0; i < benchmarks; ++i) {
    ns.push_back(2000 * std::pow(15, static_cast<double>(i) / static_cast<double>(benchmarks - 1)));
  }
  return ns;
}

// What may disturb the host times of a suite whose code did not change, as standard deviations of
// logarithms.
struct HostNoise {
  double own = 0.03;       // of one benchmark in one process; the largest row's, the least a tenth
  double process = 0.04;   // of all benchmarks in one process
  double session = 0;      // of all in a run
  double scatter = 0;      // of one benchmark in a run
  double outlier = 0;      // by so much the candidate's last process takes longer in all
};

// Of 60 benchmarks.
class HostSimulator {
 public:
  HostSimulator(const HostNoise& noise, unsigned seed) : noise_(noise), random_(seed) {}

  // extra_ns: what the candidate's code adds, by benchmark.
  std::vector<HostChange> changes(int processes, bool side_by_side,
                                  const std::vector<double>& extra_ns = std::vector<double>(60)) {
    Run baseline = run(processes, 0, std::vector<double>(60));
    Run candidate = run(processes, noise_.outlier, extra_ns);
    if (side_by_side) baseline.session = candidate.session = "one";
    return compare_host_times(baseline, candidate, {}).changes;
  }

 private:
  Run run(int processes, double outlier, const std::vector<double>& extra_ns) {
    std::vector<double> of_process;
    for (int i = 0; i < processes; ++i) of_process.push_back(noise_.process * heavy_(random_));
    of_process.back() += outlier;
    const double session = noise_.session * normal_(random_);
    const std::vector<double> host_ns = spread_out(60);
    std::vector<BenchmarkSeries> benchmarks;
    for (std::size_t row = 0; row < host_ns.size(); ++row) {
      const double in_session = session + noise_.scatter * normal_(random_);
      const double own = noise_.own * std::pow(10, -static_cast<double>(row * 7 % 10) / 9);
      std::vector<double> values;
      for (const double process : of_process) {
        values.push_back((host_ns[row] + extra_ns[row]) *
                         std::exp(in_session + process + own * heavy_(random_)));
      }
      benchmarks.push_back(hosted(fmt::format("{:03}", row), values));
    }
    Run run = run_of(std::move(benchmarks));
    for (BenchmarkSeries& series : run.benchmarks) {
      for (ProcessSummary& summary : series.processes) summary.block = summary.process + 1;
    }
    return run;
  }

  HostNoise noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3};
};

// Of so many suites whose code did not change, those in which any is called.
int suites_with_alarm(const HostNoise& noise, int processes, bool side_by_side, int suites) {
  int alarms = 0;
  for (int i = 0; i < suites; ++i) {
    HostSimulator simulator(noise, static_cast<unsigned>(1000 * processes + i));
    alarms += std::ranges::any_of(
        simulator.changes(processes, side_by_side),
        [](HostVerdict verdict) { return verdict != HostVerdict::kLooksSlower; },
        &HostChange::verdict);
  }
  return alarms;
}

// At most three of 800 is at most 1 % at 95 % confidence.
TEST(HostTimesSimulation, UnchangedCodeRaisesNoAlarm) {
  EXPECT_LE(suites_with_alarm({}, 4, true, 800), 3);
  EXPECT_LE(suites_with_alarm({.own = 0.15}, 4, true, 800), 3);
  EXPECT_LE(suites_with_alarm({.process = 0.2}, 4, true, 800), 3);
  EXPECT_LE(suites_with_alarm({.outlier = 1}, 6, true, 800), 3);
  EXPECT_LE(suites_with_alarm({.session = 0.2, .scatter = 0.03}, 4, false, 800), 3);
}

// How often of 100 suites all benchmarks are called that 20 us were added to, and how often others.
struct Found {
  int all = 0;
  int others = 0;
};

Found found_of(std::size_t slowed, const HostNoise& noise, bool side_by_side) {
  Found found;
  for (unsigned i = 0; i < 100; ++i) {
    std::vector<double> extra(60);
    for (std::size_t k = 0; k < slowed; ++k) extra[k * 60 / slowed + 20 / slowed] = 20000;
    std::size_t called = 0;
    for (const HostChange& change : HostSimulator(noise, i).changes(4, side_by_side, extra)) {
      if (change.verdict != HostVerdict::kSlower) continue;
      const bool is_slowed = extra[std::stoul(change.benchmark)] > 0;
      called += is_slowed;
      found.others += !is_slowed;
    }
    found.all += called == slowed;
  }
  return found;
}

TEST(HostTimesSimulation, FindsTwentyMicrosecondsInOneBenchmarkAndInAll) {
  for (const std::size_t slowed : {1, 6, 60}) {
    const Found found = found_of(slowed, {}, true);
    EXPECT_GE(found.all, 80) << slowed;
    EXPECT_LE(found.others, 1) << slowed;
  }
  const Found stored = found_of(6, {.session = 0.1, .scatter = 0.03}, false);
  EXPECT_GE(stored.all, 80);
  EXPECT_LE(stored.others, 1);
}

// Of two sessions it may be the machine; of one it is not.
TEST(HostTimes, WhatMostBenchmarksShareIsCalledSideBySideAlone) {
  std::vector<BenchmarkSeries> before;
  std::vector<BenchmarkSeries> after;
  for (const double ns : spread_out(20)) {
    before.push_back(hosted(fmt::format("{:05.0f}", ns), about(ns)));
    after.push_back(hosted(fmt::format("{:05.0f}", ns), about(2 * ns)));
  }
  after.back() = hosted(after.back().name, about(300000));
  auto baseline = run_of(before);
  auto candidate = run_of(after);
  const auto stored = compare_host_times(baseline, candidate, {}).changes;
  ASSERT_THAT(stored, SizeIs(20));
  EXPECT_EQ(stored[0].verdict, HostVerdict::kSlower);
  EXPECT_EQ(stored[0].benchmark, after.back().name);
  for (const HostChange& change : std::span(stored).subspan(1)) {
    EXPECT_EQ(change.verdict, HostVerdict::kLooksSlower);
    EXPECT_EQ(change.obstacle, HostObstacle::kSuiteMoved);
  }
  baseline.session = candidate.session = "one";
  EXPECT_EQ(std::ranges::count(compare_host_times(baseline, candidate, {}).changes,
                               HostVerdict::kSlower, &HostChange::verdict),
            20);
}

TEST(HostTimes, TheLargestChangeStandsFirst) {
  auto baseline = run_of({hosted("a", about(9000)), hosted("b", about(9000)),
                          hosted("c", about(9000)), hosted("d", {9000})});
  auto candidate = run_of({hosted("a", about(3000)), hosted("b", about(20000)),
                           hosted("c", about(90000)), hosted("d", {90000})});
  baseline.session = candidate.session = "one";
  std::vector<std::string> names;
  for (const HostChange& change : compare_host_times(baseline, candidate, {}).changes) {
    names.push_back(change.benchmark);
  }
  EXPECT_THAT(names, ElementsAre("c", "b", "d", "a"));
}

}  // namespace
}  // namespace fusegate::baselines
