#include "ci/gate/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "baselines/record/test_run.h"
#include "ci/gate/gate_document.h"
#include "ci/gate/gate_json.h"

namespace fusegate::ci {
namespace {

using baselines::doing;
using baselines::test_run;
using baselines::test_series;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kTolerance = 1e-4;

// Five processes whose times differ by a hair.
std::vector<double> about(double time_ns) {
  std::vector<double> times;
  for (const double noise : {0.0, 5e-4, -5e-4, 2e-4, -2e-4}) times.push_back(time_ns * (1 + noise));
  return times;
}

Replay replay(const baselines::Run& stored, const baselines::Run& replayed,
              const baselines::Run& candidate) {
  return replay_of(stored, replayed, baselines::gate(replayed, candidate, {}), {});
}

TEST(Replay, PartsTheMachinesShareFromTheCodes) {
  const auto run_of = [](double code, double machine) {
    return test_run({test_series("code", about(code)), test_series("machine", about(machine)),
                     test_series("same", about(1000))});
  };
  const Replay found = replay(run_of(1000, 1000), run_of(1000, 1031), run_of(1050, 1031 * 1.02));
  ASSERT_EQ(found.rows.size(), 3u);
  const auto expect_row = [&](const std::string& name, double machine, double code) {
    const ReplayedRow& row = *std::ranges::find(
        found.rows, name, [](const ReplayedRow& one) { return one.machine.benchmark; });
    EXPECT_EQ(row.has_moved(), machine != 0);
    EXPECT_NEAR(row.machine.estimates.in_time, machine, kTolerance);
    EXPECT_NEAR(row.code, code, kTolerance);
    EXPECT_NEAR(row.product, (1 + machine) * (1 + code) - 1, kTolerance);
  };
  expect_row("machine", 0.031, 0.02);
  expect_row("code", 0, 0.05);
  expect_row("same", 0, 0);
  EXPECT_EQ(found.rows[0].machine.benchmark, "machine") << "what moved comes first";
}

TEST(Replay, IdenticalCodeThatTheMachineSlowsHasMoved) {
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

ReplayedRow row_of(const std::string& name, double machine, double code) {
  ReplayedRow row;
  row.machine.benchmark = name;
  row.machine.kind =
      machine == 0 ? baselines::VerdictKind::kUnchanged : baselines::VerdictKind::kRegression;
  row.machine.estimates.effect = machine / 2;
  row.machine.estimates.in_time = machine;
  row.machine.estimates.interval = {machine - 0.001, machine + 0.001};
  row.machine.baseline.time_ns = 1000;
  row.machine.candidate.time_ns = 1000 * (1 + machine);
  row.code = code;
  row.product = (1 + machine) * (1 + code) - 1;
  return row;
}

GateFacts example() {
  GateFacts facts;
  facts.baseline.emplace();
  Replay& replay = facts.replay.emplace();
  replay.stored.source = "stored.json";
  replay.stored.provenance.toolchain = "GNU 12";
  facts.baseline->run.provenance.toolchain = "GNU 13";
  replay.differences = {{"driver", "580.159.04", "590.1"}};
  replay.other_card = true;
  replay.rows = {row_of("linear/addmm", 0.031, 0.02), row_of("geglu/fused", 0, 0)};
  replay.rows[0].other_work = true;
  replay.not_replayed = {"gone"};
  return facts;
}

TEST(ReplaySection, NamesTheEnvironmentAndWhatMovedByIt) {
  const std::string text = terminal_text(gate_document("fusegate", example()));
  EXPECT_THAT(text, HasSubstr("The program of stored.json was measured again"));
  EXPECT_THAT(text,
              HasSubstr("driver 580.159.04 to 590.1, another card: 1 of 2 benchmarks changed, "
                        "from +3.10 % to +3.10 %."));
  EXPECT_THAT(text, HasSubstr("built by GNU 12, the replayed one by GNU 13"));
  EXPECT_THAT(text, HasSubstr("Not measured again: gone."));
  EXPECT_THAT(text, testing::ContainsRegex("linear/addmm +\\+3.10 % +\\+1.55 % +\\+2.00 % +"
                                           "\\+5.16 % +1.000 us +1.031 us"));
  EXPECT_THAT(text, HasSubstr("other machine code, launches or arguments"));
  EXPECT_THAT(text, Not(HasSubstr("geglu/fused")));
}

TEST(ReplaySection, FoldsWhatDidNotMove) {
  GateFacts facts = example();
  Replay& replay = *facts.replay;
  replay.rows.erase(replay.rows.begin());
  replay.differences.clear();
  replay.other_card = false;
  const std::string text = markdown(gate_document("fusegate", facts));
  EXPECT_THAT(text, HasSubstr("The same environment and card: none of 1 benchmark changed."));
  EXPECT_THAT(text, AllOf(HasSubstr("1 benchmark that did not change"), HasSubstr("geglu/fused")));
}

TEST(ReplayJson, HasTheThreeFiguresOfEachRow) {
  GateFacts facts = example();
  facts.replay->rows[1].code = std::numeric_limits<double>::quiet_NaN();
  const auto json = gate_json(facts)["replay"];
  EXPECT_EQ(json["stored"], "stored.json");
  EXPECT_EQ(json["environment_differences"][0]["replayed"], "590.1");
  EXPECT_EQ(json["other_card"], true);
  EXPECT_EQ(json["toolchain"]["stored"], "GNU 12");
  EXPECT_EQ(json["not_replayed"], nlohmann::json({"gone"}));
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["benchmark"], "linear/addmm");
  EXPECT_EQ(row["stored_to_replayed"], 0.031);
  EXPECT_EQ(row["at_equal_clock"], 0.0155);
  EXPECT_EQ(row["replayed_to_candidate"], 0.02);
  EXPECT_NEAR(row["stored_to_candidate"].get<double>(), 1.031 * 1.02 - 1, 1e-9);
  EXPECT_EQ(row["moved"], true);
  EXPECT_EQ(row["other_work"], true);
  EXPECT_TRUE(json["rows"][1]["replayed_to_candidate"].is_null());
  facts.replay.reset();
  EXPECT_TRUE(gate_json(facts)["replay"].is_null());
}

}  // namespace
}  // namespace fusegate::ci
