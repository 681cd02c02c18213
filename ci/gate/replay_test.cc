#include "ci/gate/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

using baselines::doing;
using baselines::test_run;
using baselines::test_series;
using ::testing::ElementsAre;

constexpr double kTolerance = 1e-4;

// Five invocations whose times differ by a hair.
std::vector<double> about(double time_ns) {
  std::vector<double> times;
  for (const double noise : {0.0, 5e-4, -5e-4, 2e-4, -2e-4}) times.push_back(time_ns * (1 + noise));
  return times;
}

Replay replay(const baselines::Run& stored, const baselines::Run& replayed,
              const baselines::Run& candidate) {
  return replay_of(stored, replayed, baselines::gate(replayed, candidate, {}), {});
}

TEST(Replay, TellsTheMachinesShareFromTheCodes) {
  const baselines::Run stored =
      test_run({test_series("code", about(1000)), test_series("machine", about(1000)),
                test_series("same", about(1000))});
  const baselines::Run replayed =
      test_run({test_series("code", about(1000)), test_series("machine", about(1031)),
                test_series("same", about(1000))});
  const baselines::Run candidate =
      test_run({test_series("code", about(1050)), test_series("machine", about(1031 * 1.02)),
                test_series("same", about(1000))});
  const Replay found = replay(stored, replayed, candidate);
  ASSERT_EQ(found.rows.size(), 3u);
  EXPECT_EQ(found.rows[0].machine.benchmark, "machine");
  EXPECT_TRUE(found.rows[0].has_moved());
  EXPECT_NEAR(found.rows[0].machine.effect_time, 0.031, kTolerance);
  EXPECT_NEAR(found.rows[0].code, 0.02, kTolerance);
  EXPECT_NEAR(found.rows[0].product, 1.031 * 1.02 - 1, kTolerance);
  for (const ReplayedRow& row : found.rows) {
    if (row.machine.benchmark != "code") continue;
    EXPECT_FALSE(row.has_moved());
    EXPECT_NEAR(row.machine.effect_time, 0, kTolerance);
    EXPECT_NEAR(row.product, 0.05, kTolerance);
  }
  EXPECT_FALSE(found.rows[1].has_moved());
  EXPECT_FALSE(found.rows[2].has_moved());
}

TEST(Replay, EqualWorkThatTheMachineSlowsHasMoved) {
  const baselines::Run stored = test_run(
      {doing(test_series("a", about(1000)), "0f"), doing(test_series("b", about(1000)), "0f")});
  const baselines::Run replayed = test_run(
      {doing(test_series("a", about(1000)), "0f"), doing(test_series("b", about(1040)), "0f")});
  const Replay found = replay(stored, replayed, replayed);
  EXPECT_EQ(found.rows[0].machine.benchmark, "b");
  EXPECT_TRUE(found.rows[0].has_moved());
  EXPECT_FALSE(found.rows[0].other_work);
  EXPECT_FALSE(found.rows[1].has_moved());
}

TEST(Replay, OtherWorkHasMovedHoweverLongItTakes) {
  const auto other_work = [](const std::string& before, const std::string& after) {
    baselines::Run stored = test_run({doing(test_series("a", about(1000)), before)});
    baselines::Run replayed = test_run({doing(test_series("a", about(1000)), after)});
    if (before.empty()) stored.benchmarks[0].identity = {.unknown = "no CUPTI"};
    if (after.empty()) replayed.benchmarks[0].identity.reset();
    const Replay found = replay(stored, replayed, replayed);
    EXPECT_EQ(found.rows.at(0).has_moved(), found.rows.at(0).other_work);
    return found.rows.at(0).other_work;
  };
  EXPECT_TRUE(other_work("0f", "1f"));
  EXPECT_FALSE(other_work("0f", "0f"));
  EXPECT_FALSE(other_work("", "1f"));
  EXPECT_FALSE(other_work("0f", ""));
}

TEST(Replay, NamesWhatOneSideLacks) {
  baselines::Run stored =
      test_run({test_series("both", about(1000)), test_series("gone", about(1000))});
  baselines::Run replayed =
      test_run({test_series("both", about(1000)), test_series("new", about(1000))});
  stored.environment = {{"device", "NVIDIA H200"}, {"driver", "580.159.04"}};
  replayed.environment = {{"device", "NVIDIA H200"}, {"driver", "590.1"}};
  stored.provenance.device_uuid = "GPU-1";
  replayed.provenance.device_uuid = "GPU-2";
  const Replay found = replay(stored, replayed, test_run({test_series("new", about(1000))}));
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_TRUE(std::isnan(found.rows[0].product));
  EXPECT_THAT(found.not_replayed, ElementsAre("gone"));
  ASSERT_EQ(found.differences.size(), 1u);
  EXPECT_EQ(found.differences[0].candidate, "590.1");
  EXPECT_TRUE(found.other_card);
}

}  // namespace
}  // namespace fusegate::ci
