#include "baselines/history/night_of_run.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <random>

#include "baselines/history/night_json.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/load_run.h"
#include "baselines/record/test_run.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::filesystem::path kStored =
    std::filesystem::path(FUSEGATE_STORE) / "nvidia-h200" / "nightly.json";

Run dated(std::vector<BenchmarkSeries> benchmarks) {
  baselines::Run run = side_by_side(std::move(benchmarks));
  run.provenance.date = "2026-11-21T02:53:32+01:00";
  return run;
}

// One process, whose samples are of a kernel that goes with the clock by 0.8; at that clock in GHz,
// and then so much slower.
ProcessSummary process_at(double ghz, double slower, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> times_ns, cycles;
  for (int i = 0; i < 50; ++i) {
    const double own_ghz = ghz * std::exp(0.004 * normal(random));
    times_ns.push_back(1000 * slower * std::pow(own_ghz / 1.9, -0.8));
    cycles.push_back(times_ns.back() * own_ghz);
  }
  return {.time_ns = fast_half(times_ns),
          .cycles = fast_half(cycles),
          .clock_fit = fit_clock(times_ns, cycles)};
}

Run run_at(double ghz, double slower = 1) {
  std::mt19937_64 random(7);
  BenchmarkSeries series = test_series("a", {});
  for (int i = 0; i < 5; ++i) series.processes.push_back(process_at(ghz, slower, random));
  return dated({series});
}

// Whichever baseline is stored.
TEST(NightOfRunTest, KnowsWhereAStoredBaselineComesFrom) {
  const baselines::Run run = load_run({kStored});
  const Night night = night_of_run(run, nullptr, {});
  std::vector<std::string> cards;
  for (const std::string& card : run.cards) cards.push_back(card.substr(4, 8));
  const auto time = static_cast<std::time_t>(night.unix_s);
  EXPECT_EQ(night.session, fmt::format("{:%Y%m%dT%H%M%SZ}-nightly-{}-{}", fmt::gmtime(time),
                                       fmt::join(cards, "-"), run.provenance.commit.substr(0, 12)));
  EXPECT_EQ(fmt::format("{:%Y-%m-%dT%H:%M:%S+00:00}", fmt::gmtime(time)), run.provenance.date);
  EXPECT_EQ(night.commit, run.provenance.commit);
  EXPECT_EQ(night.device, "NVIDIA H200");
  EXPECT_EQ(night.card, fmt::format("{}", fmt::join(run.cards, ", ")));
  EXPECT_EQ(night.machine, "vm");
  EXPECT_EQ(night.driver, "580.159.04");
  EXPECT_EQ(night.cuda, "13.0");
  EXPECT_EQ(night.cublas, "13.1.0");
  EXPECT_EQ(night.suite, "nightly");
  EXPECT_THAT(night.method, SizeIs(16));
  EXPECT_EQ(night.replayed, "");
  ASSERT_EQ(night.benchmarks.size(), run.benchmarks.size());
  const NightBenchmark& copy = night.benchmarks.at(0);
  EXPECT_EQ(copy.name, "control_copy/memcpy/bf16/batch:64/seq:128/dim:768/hidden:4608");
  EXPECT_EQ(copy.operation, "control_copy");
  EXPECT_EQ(copy.implementation, "memcpy");
  EXPECT_EQ(copy.processes, static_cast<int>(run.benchmarks.at(0).processes.size()));
  std::vector<double> times_ns, logs, cycles;
  for (const ProcessSummary& process : run.benchmarks.at(0).processes) {
    times_ns.push_back(process.time_ns);
    logs.push_back(std::log(process.time_ns));
    cycles.push_back(process.cycles);
  }
  EXPECT_EQ(copy.ns, median(times_ns));
  EXPECT_EQ(copy.cycles, median(cycles));
  EXPECT_NEAR(copy.log_equal_clock, mean(logs), 0.002) << "a copy hardly goes by the clock";
  EXPECT_GT(copy.process_variance, 0);
  EXPECT_LT(copy.process_variance, 1e-5);
  EXPECT_THAT(copy.kernels, ElementsAre("memcpy|"));
  EXPECT_THAT(copy.identity, SizeIs(16));
  EXPECT_NEAR(copy.clock_ghz, copy.cycles / copy.ns, 0.01);
}

TEST(NightOfRunTest, ARealNightTakesAtMost60Kilobytes) {
  constexpr int kNights = 20;
  const ScratchFolder folder;
  Night night = night_of_run(load_run({kStored}), nullptr, {});
  night.benchmarks.resize(344);
  History history(folder.path() / "history.db", DatabaseUse::kWrite);
  for (int i = 0; i < kNights; ++i) {
    night.session = std::to_string(i);
    for (NightBenchmark& benchmark : night.benchmarks) benchmark.log_equal_clock += 1e-5;
    history.add(night);
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(history.path()));
  EXPECT_LT(bytes / kNights, 60e3);
  RecordProperty("bytes_a_night", std::to_string(bytes / kNights));
}

TEST(NightOfRunTest, ANightAtAnotherClockIsComparable) {
  const Night first = night_of_run(run_at(1.9), nullptr, {});
  const NightBenchmark& before = first.benchmarks.at(0);
  EXPECT_NEAR(before.clock_share, 0.8, 0.01);
  EXPECT_NEAR(before.clock_ghz, 1.9, 0.01);
  EXPECT_NEAR(before.log_equal_clock, std::log(before.ns), 1e-3);
  const std::map<std::string, CommonClock> clocks{{"a", {before.clock_ghz, before.clock_share}}};
  const NightBenchmark slow_clock = night_of_run(run_at(1.6), nullptr, clocks).benchmarks.at(0);
  EXPECT_NEAR(std::log(slow_clock.ns / before.ns), 0.8 * std::log(1.9 / 1.6), 1e-3);
  EXPECT_NEAR(slow_clock.log_equal_clock, before.log_equal_clock, 1e-3);
  EXPECT_EQ(slow_clock.clock_ghz, before.clock_ghz);
  const NightBenchmark slower = night_of_run(run_at(1.6, 1.01), nullptr, clocks).benchmarks.at(0);
  EXPECT_NEAR(slower.log_equal_clock - slow_clock.log_equal_clock, std::log(1.01), 1e-6);
}

TEST(NightOfRunTest, WithoutAClockItIsOfTimeAlone) {
  const Night night =
      night_of_run(dated({test_series("a", kQuiet, 0)}), nullptr, {{"a", {1.9, 0.8}}});
  EXPECT_NEAR(night.benchmarks.at(0).log_equal_clock, std::log(1000), 1e-4);
  EXPECT_TRUE(std::isnan(night.benchmarks.at(0).clock_ghz));
  EXPECT_TRUE(std::isnan(night.benchmarks.at(0).cycles));
}

TEST(NightOfRunTest, OnACpuCyclesAloneDecide) {
  baselines::Run run = dated({test_series("a", kQuiet)});
  run.environment[kCpuCycles] = "cpu_cycles";
  EXPECT_EQ(night_of_run(run, nullptr, {}).benchmarks.at(0).clock_share, 1);
}

TEST(NightOfRunTest, KeepsTheIdentityOfWhatWasLeftOutAndNothingOfWhatFailed) {
  const baselines::Run run =
      dated({doing(test_series("a", {}), "0f"), doing(test_series("b", kQuiet), "0f"),
             failed_series("c", "wrong results")});
  const Night night = night_of_run(run, nullptr, {});
  ASSERT_THAT(night.benchmarks, SizeIs(2));
  EXPECT_EQ(night.benchmarks.at(0).processes, 0);
  EXPECT_TRUE(std::isnan(night.benchmarks.at(0).log_equal_clock));
  EXPECT_EQ(night.benchmarks.at(0).identity, night.benchmarks.at(1).identity);
  EXPECT_THAT(night.benchmarks.at(0).kernels, ElementsAre("void k<float>()|0f"));
}

TEST(NightOfRunTest, AnIdentityIsOfCodeAndNotOfNames) {
  BenchmarkSeries renamed = doing(test_series("b", kQuiet), "0f");
  renamed.identity->launches.at(0).kernel = "void other()";
  const baselines::Run run =
      dated({doing(test_series("a", kQuiet), "0f"), renamed, doing(test_series("c", kQuiet), "1f"),
             test_series("d", kQuiet)});
  const Night night = night_of_run(run, nullptr, {});
  EXPECT_EQ(night.benchmarks.at(0).identity, night.benchmarks.at(1).identity);
  EXPECT_NE(night.benchmarks.at(0).identity, night.benchmarks.at(2).identity);
  EXPECT_THAT(night.benchmarks.at(3).identity, IsEmpty());
}

TEST(NightOfRunTest, TheEffectOverTheReplayIsWhatTheCodeDid) {
  baselines::Run replay = on_still_machine(dated({test_series("a", kQuiet)}));
  replay.provenance.commit = "c0";
  const baselines::Run run =
      on_still_machine(dated({test_series("a", slowed(0.01)), test_series("b", kQuiet)}));
  const Night night = night_of_run(run, &replay, {});
  EXPECT_EQ(night.replayed, "c0");
  ASSERT_TRUE(night.benchmarks.at(0).over_replay);
  EXPECT_NEAR(night.benchmarks.at(0).over_replay->value, std::log(1.01), 1e-5);
  EXPECT_GT(night.benchmarks.at(0).over_replay->variance, 0);
  EXPECT_LT(night.benchmarks.at(0).over_replay->variance, 1e-6);
  EXPECT_FALSE(night.benchmarks.at(1).over_replay);
}

TEST(NightOfRunTest, TheMethodIsWithoutTheGatesSettings) {
  baselines::Run run = dated({});
  run.provenance.protocol = {{"samples", 48}};
  const std::string method = night_of_run(run, nullptr, {}).method;
  run.provenance.protocol["min_effect"] = 0.01;
  EXPECT_EQ(night_of_run(run, nullptr, {}).method, method);
  run.provenance.protocol["samples"] = 60;
  EXPECT_NE(night_of_run(run, nullptr, {}).method, method);
}

TEST(NightOfRunTest, ASessionHasWhatIsKnown) {
  baselines::Run run = dated({});
  EXPECT_EQ(session_of(run), "20261121T015332Z");
  run.provenance.date = "";
  run.source = "run";
  try {
    session_of(run);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run: context.date: no date"));
  }
}

}  // namespace
}  // namespace fusegate::baselines
