// Equal work as the measure of the machine: which rows are of one kind, and whether verdicts keep
// their promises where a session or a card moved unchanged code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baselines/comparing/drift.h"
#include "baselines/comparing/judge.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;

BenchmarkSeries series(const std::string& name, double time_ns, double intensity) {
  BenchmarkSeries series = test_series(name, {time_ns, time_ns});
  if (intensity > 0) series.counters = {{"flops", 1e6 * intensity}, {"min_bytes", 1e6}};
  return series;
}

TEST(MachineGroups, AreThirdsOfDurationByHalvesOfIntensity) {
  const std::vector<BenchmarkSeries> all{
      series("a", 1.0e3, 1),   series("b", 1.1e3, 500), series("c", 1.0e4, 1),
      series("d", 1.1e4, 500), series("e", 1.0e6, 1),   series("f", 1.1e6, 500),
      series("g", 1.2e6, 0),   series("h", 0.9e3, 0),   series("i", 1.2e4, 0)};
  std::vector<Comparison> suite;
  for (const BenchmarkSeries& one : all) {
    suite.push_back({.baseline = &one, .candidate = &one});
  }
  EXPECT_THAT(machine_groups(suite), ElementsAre(0, 3, 1, 4, 2, 5, 8, 6, 7));
}

TEST(TellsOfMachine, EqualWorkAndControlsThatMayBeEqual) {
  const auto tells = [](const BenchmarkSeries& before, const BenchmarkSeries& after, bool control) {
    Comparison comparison{.baseline = &before, .candidate = &after};
    comparison.is_control = control;
    comparison.is_identical = equal_work(before, after);
    return tells_of_machine(comparison);
  };
  const auto plain = test_series("a", {1});
  EXPECT_FALSE(tells(plain, plain, false));
  EXPECT_TRUE(tells(plain, plain, true));
  EXPECT_TRUE(tells(doing(plain, "0f"), doing(plain, "0f"), false));
  EXPECT_TRUE(tells(doing(plain, "0f"), plain, true));
  EXPECT_FALSE(tells(doing(plain, "0f"), doing(plain, "1e"), true)) << "another algorithm";
}

// A suite of 104 rows, five processes a side, in two sessions or on two cards that move rows by
// their duration and bound, and each row besides.
struct Simulation {
  int identical = 52;
  bool identities_known = true;
  double most_scatter = 0.004;
  double planted = 0;  // in every tenth of the rows that are not identical
  bool other_card = false;
};

struct Found {
  int suites_with_false_calls = 0;
  int planted = 0;
  int found = 0;
};

class Simulator {
 public:
  explicit Simulator(const Simulation& simulation) : simulation_(simulation) {}

  Found run(int suites) {
    Found found;
    for (int i = 0; i < suites; ++i) add_suite(found);
    return found;
  }

 private:
  static constexpr int kRows = 104;

  BenchmarkSeries measured(const std::string& name, double time_ns, bool memory_bound,
                           double noise) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(time_ns * std::exp(noise * normal_(random_)));
    BenchmarkSeries result = test_series(name, times);
    result.counters = {{"flops", memory_bound ? 1e6 : 5e8}, {"min_bytes", 1e6}};
    return result;
  }

  void add_suite(Found& found) {
    const double common = 0.005 * normal_(random_);
    const double by_duration = 0.006 * normal_(random_);
    const double by_bound = 0.003 * normal_(random_);
    const double short_scatter = 0.0005 * std::pow(simulation_.most_scatter / 0.0005, draw());
    const double long_scatter = 0.0005 * std::pow(simulation_.most_scatter / 0.0005, draw());
    fusegate::baselines::Run baseline;
    fusegate::baselines::Run candidate;
    if (simulation_.other_card) {
      baseline.provenance.device_uuid = "GPU-1";
      candidate.provenance.device_uuid = "GPU-2";
    }
    std::vector<bool> planted;
    for (int i = 0; i < kRows; ++i) {
      const double duration = draw();
      const bool memory_bound = draw() < 0.5;
      const bool identical = i * 7 % kRows < simulation_.identical;
      planted.push_back(!identical && simulation_.planted > 0 && i % 10 == 0);
      const double scatter = short_scatter * std::pow(long_scatter / short_scatter, duration);
      const double effect = common + by_duration * (duration - 0.5) + by_bound * memory_bound +
                            scatter * normal_(random_) +
                            (planted.back() ? std::log1p(simulation_.planted) : 0);
      const double noise = 2e-4 * std::pow(8, draw());
      const double time_ns = 2e3 * std::pow(1e3, duration);
      const std::string name = fmt::format("{:03}", i);
      baseline.benchmarks.push_back(measured(name, time_ns, memory_bound, noise));
      candidate.benchmarks.push_back(
          measured(name, time_ns * std::exp(effect), memory_bound, noise));
      if (!identical || !simulation_.identities_known) continue;
      baseline.benchmarks.back() = doing(baseline.benchmarks.back(), "0f");
      candidate.benchmarks.back() = doing(candidate.benchmarks.back(), "0f");
    }
    count(judge(baseline, candidate, {}), planted, found);
  }

  double draw() { return uniform_(random_); }

  static void count(const std::vector<Verdict>& verdicts, const std::vector<bool>& planted,
                    Found& found) {
    bool false_call = false;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const bool called = verdicts[i].kind == VerdictKind::kRegression;
      false_call = false_call || (called && !planted[i]);
      found.planted += planted[i];
      found.found += called && planted[i];
    }
    found.suites_with_false_calls += false_call;
  }

  Simulation simulation_;
  std::mt19937 random_{20261122};
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

TEST(EqualWork, KeepsTheMachineFromBeingBlamed) {
  int false_calls = 0;
  for (const int identical : {16, 52, 90}) {
    false_calls += Simulator({.identical = identical}).run(70).suites_with_false_calls;
  }
  EXPECT_LE(false_calls, 2);
  // Else it is a test of nothing.
  const Found blamed = Simulator({.identities_known = false}).run(20);
  EXPECT_GT(blamed.suites_with_false_calls, 10);
}

TEST(EqualWork, LeavesOnePercentToBeFound) {
  const Found found =
      Simulator({.most_scatter = 0.001, .planted = 0.01, .other_card = true}).run(30);
  EXPECT_EQ(found.suites_with_false_calls, 0);
  EXPECT_GT(found.found, 0.8 * found.planted);
}

TEST(EqualWork, SaysWhatTheMachineDid) {
  fusegate::baselines::Run baseline;
  fusegate::baselines::Run candidate;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  const auto times = [&](double factor) {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) values.push_back(1e4 * factor * std::exp(3e-4 * normal(random)));
    return values;
  };
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("equal {:02}", i);
    baseline.benchmarks.push_back(doing(test_series(name, times(1)), "0f"));
    candidate.benchmarks.push_back(doing(test_series(name, times(1.02)), "0f"));
  }
  baseline.benchmarks.push_back(doing(test_series("fixed", times(1)), "0f"));
  candidate.benchmarks.push_back(doing(test_series("fixed", times(1.02)), "1e"));
  baseline.benchmarks.push_back(doing(test_series("slower", times(1)), "0f"));
  candidate.benchmarks.push_back(doing(test_series("slower", times(1.03)), "1e"));
  const auto verdicts = judge(baseline, candidate, {});
  const Verdict& equal = verdicts.at(0);
  const Verdict& fixed = verdicts.at(20);
  const Verdict& slower = verdicts.at(21);
  EXPECT_EQ(equal.kind, VerdictKind::kIdentical);
  EXPECT_NEAR(equal.effect, 0.02, 0.001) << "what the machine did is kept";
  EXPECT_EQ(equal.ruled_out, 0);
  EXPECT_EQ(fixed.kind, VerdictKind::kUnchanged);
  EXPECT_NEAR(fixed.effect, 0, 0.001);
  EXPECT_NEAR(fixed.machine_effect, 0.02, 0.001);
  EXPECT_EQ(slower.kind, VerdictKind::kRegression);
  EXPECT_NEAR(slower.effect, 1.03 / 1.02 - 1, 0.001);
  EXPECT_GT(slower.ruled_out, slower.effect);
}

}  // namespace
}  // namespace fusegate::baselines
