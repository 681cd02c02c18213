#include "ci/gate/replay_section.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ci/gate/gate_json.h"
#include "ci/report/report.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ReplayedRow row_of(const std::string& name, double machine, double code) {
  ReplayedRow row;
  row.machine.benchmark = name;
  row.machine.kind =
      machine == 0 ? baselines::VerdictKind::kUnchanged : baselines::VerdictKind::kRegression;
  row.machine.effect = machine / 2;
  row.machine.effect_time = machine;
  row.machine.interval = {machine - 0.001, machine + 0.001};
  row.machine.baseline_ns = 1000;
  row.machine.candidate_ns = 1000 * (1 + machine);
  row.code = code;
  row.product = (1 + machine) * (1 + code) - 1;
  return row;
}

Report example() {
  Report report;
  report.judgement.emplace();
  Replay& replay = report.judgement->replay.emplace();
  replay.stored.source = "stored.json";
  replay.stored.provenance.toolchain = "GNU 12";
  report.judgement->baseline.run.provenance.toolchain = "GNU 13";
  replay.differences = {{"driver", "580.159.04", "590.1"}};
  replay.other_card = true;
  replay.rows = {row_of("linear/addmm", 0.031, 0.02), row_of("geglu/fused", 0, 0)};
  replay.rows[0].other_work = true;
  replay.not_replayed = {"gone"};
  return report;
}

TEST(ReplaySection, NamesTheEnvironmentAndWhatMovedByIt) {
  const std::string text = terminal_text(report_document(example()));
  EXPECT_THAT(text, HasSubstr("The program of stored.json was measured again"));
  EXPECT_THAT(text, HasSubstr("driver 580.159.04 to 590.1, another card: 1 of 2 benchmarks moved, "
                              "from +3.10 % to +3.10 %."));
  EXPECT_THAT(text, HasSubstr("built by GNU 12, the replayed one by GNU 13"));
  EXPECT_THAT(text, HasSubstr("Not measured again: 1 benchmark, the first is gone."));
  EXPECT_THAT(text, testing::ContainsRegex("linear/addmm +\\+3.10 % +\\+1.55 % +\\+2.00 % +"
                                           "\\+5.16 % +1.000 us +1.031 us"));
  EXPECT_THAT(text, HasSubstr("other machine code, launches or arguments"));
  EXPECT_THAT(text, Not(HasSubstr("geglu/fused")));
}

TEST(ReplaySection, FoldsWhatDidNotMove) {
  Report report = example();
  Replay& replay = *report.judgement->replay;
  replay.rows.erase(replay.rows.begin());
  replay.differences.clear();
  replay.other_card = false;
  const std::string text = markdown(report_document(report));
  EXPECT_THAT(text, HasSubstr("The same environment and card: none of 1 benchmark moved."));
  EXPECT_THAT(text, AllOf(HasSubstr("1 benchmark that did not move"), HasSubstr("geglu/fused")));
}

TEST(ReplayJson, HasTheThreeFiguresOfEachRow) {
  Report report = example();
  report.judgement->replay->rows[1].code = std::numeric_limits<double>::quiet_NaN();
  const auto json = gate_json(*report.judgement, report.candidate)["replay"];
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
  report.judgement->replay.reset();
  EXPECT_TRUE(gate_json(*report.judgement, report.candidate)["replay"].is_null());
}

}  // namespace
}  // namespace fusegate::ci
