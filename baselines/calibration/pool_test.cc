#include "baselines/calibration/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Run run_of(std::vector<BenchmarkSeries> benchmarks, const std::string& uuid = "GPU-1") {
  Run run = test_run(std::move(benchmarks));
  run.source = "run of " + uuid;
  run.environment = {{"device", "NVIDIA H200"}, {"driver", "580"}};
  run.provenance.device_uuid = uuid;
  run.provenance.suite = "pr";
  return run;
}

std::vector<double> times_of(const Run& run, std::size_t benchmark) {
  std::vector<double> times;
  for (const auto& summary : run.benchmarks.at(benchmark).processes) {
    times.push_back(summary.time_ns);
  }
  return times;
}

TEST(PoolRuns, JoinsTheRunsOfACard) {
  const CalibrationPool pool =
      pool_runs({run_of({test_series("b", {1, 2}), test_series("a", {10, 20})}),
                 run_of({test_series("a", {11}), test_series("b", {3})}, "GPU-2"),
                 run_of({test_series("a", {30}), test_series("b", {4})})});
  ASSERT_EQ(pool.cards.size(), 2u);
  const fusegate::baselines::Run& first = pool.cards[0];
  EXPECT_EQ(first.provenance.device_uuid, "GPU-1");
  EXPECT_EQ(first.benchmarks[0].name, "a");
  EXPECT_THAT(times_of(first, 0), ElementsAre(10, 20, 30));
  EXPECT_THAT(times_of(first, 1), ElementsAre(1, 2, 4));
  ASSERT_EQ(pool.runs.size(), 3u);
  EXPECT_EQ(pool.runs[0].processes, 2);
  EXPECT_EQ(pool.runs[1].device_uuid, "GPU-2");
}

// The summaries of one process must stay together, so a benchmark that any process lacks goes.
TEST(PoolRuns, LeavesOutWhatSomeProcessLacks) {
  BenchmarkSeries once_failed = test_series("c", {1, 2});
  once_failed.failure = "wrong results";
  const CalibrationPool pool = pool_runs(
      {run_of({test_series("a", {1, 2}), test_series("b", {1}), once_failed,
               test_series("d", {1, 2})}),
       run_of({test_series("a", {1, 2}), test_series("b", {1, 2}), test_series("c", {1, 2})})});
  EXPECT_THAT(pool.left_out, ElementsAre("b", "c", "d"));
  EXPECT_EQ(pool.cards.at(0).benchmarks.size(), 1u);
  EXPECT_EQ(processes_of(pool.cards.at(0)), 4u);
}

// An extension measures some benchmarks once more: those that looked slower, say.
TEST(PoolRuns, PassesOverExtensions) {
  BenchmarkSeries extended = test_series("b", {1, 2, 3});
  extended.processes[2].extension = true;
  const fusegate::baselines::Run run = run_of({test_series("a", {10, 20}), extended});
  const CalibrationPool pool = pool_runs({run});
  EXPECT_THAT(pool.left_out, ElementsAre());
  EXPECT_THAT(times_of(pool.cards.at(0), 1), ElementsAre(1, 2));
}

TEST(PoolRuns, NamesWhatDiffers) {
  const auto refused = [](const char* message, auto change) {
    const auto run = run_of({test_series("a", {1, 2})});
    auto other = run_of({test_series("a", {1, 2})}, "GPU-2");
    change(other);
    EXPECT_THAT([&] { pool_runs({run, other}); }, ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refused("run of GPU-2: environment.driver: is 570, but 580 in run of GPU-1",
          [](auto& run) { run.environment["driver"] = "570"; });
  refused("suite: is \"nightly\", but \"pr\"", [](auto& run) { run.provenance.suite = "nightly"; });
  refused("protocol: is {\"samples\":60}, but null", [](auto& run) {
    run.provenance.protocol = {{"samples", 60}};
  });
}

TEST(PoolRuns, NeedsSomethingInCommon) {
  EXPECT_THROW(pool_runs({}), InputError);
  EXPECT_THAT(
      [] {
        pool_runs({run_of({test_series("a", {1})}), run_of({test_series("b", {1})})});
      },
      ThrowsMessage<InputError>(HasSubstr("benchmarks: none succeeded")));
  EXPECT_THROW(pool_runs({run_of({failed_series("a", "out of memory")})}), InputError);
}

TEST(DrawnRun, TakesOneProcessesSummariesTogether) {
  const CalibrationPool pool =
      pool_runs({run_of({test_series("a", {10, 20, 30}), test_series("b", {1, 2, 3})})});
  const fusegate::baselines::Run drawn = drawn_run(pool.cards.at(0), {2, 0});
  EXPECT_THAT(times_of(drawn, 0), ElementsAre(30, 10));
  EXPECT_THAT(times_of(drawn, 1), ElementsAre(3, 1));
  EXPECT_EQ(drawn.provenance.device_uuid, "GPU-1");
}

}  // namespace
}  // namespace fusegate::baselines
