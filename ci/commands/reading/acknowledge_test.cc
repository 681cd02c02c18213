#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

// After a gate of a run in which kFused is slower.
class AcknowledgeTest : public CommandTest<AcknowledgeRequest, acknowledge_command> {
 protected:
  AcknowledgeTest() {
    gate_.judging.baseline = {write_run(folder_, "base", {})};
    gate_.judging.stores = {folder_.path() / "store"};
    gate_.files.json = folder_.path() / "gate.json";
    request_ = {.gate = folder_.path() / "gate.json",
                .benchmarks = {"^geglu/"},
                .reason = "exact gelu",
                .until = "2999-12-31",
                .who = "ann",
                .accepted = folder_.path() / "store" / "accepted.json"};
    gate(slowed());
  }

  ExitCode gate(FakeRunFile file) {
    gate_.judging.candidate = {write_run(folder_, "head", file)};
    Console console{said_, said_};
    return gate_command(gate_, console);
  }
  nlohmann::json verdict_of(const std::string& name) {
    const nlohmann::json gate = json_in(request_.gate);
    for (const nlohmann::json& verdict : gate["verdicts"]) {
      if (verdict["benchmark"] == name) return verdict;
    }
    return {};
  }

  GateRequest gate_;
  std::ostringstream said_;
};

TEST_F(AcknowledgeTest, WritesWhatTheGateThenAccepts) {
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("accepted ^") + kFused + "$: slower by 17."));
  said_.str("");
  EXPECT_EQ(gate(slowed()), kNoRegression);
  EXPECT_THAT(said_.str(), AllOf(HasSubstr("1 accepted"), HasSubstr("Accepted slowdowns"),
                                 HasSubstr("until 2999-12-31 by ann: exact gelu")));
  EXPECT_EQ(verdict_of(kFused)["accepted"]["state"], "covers");
  EXPECT_EQ(verdict_of(kFused)["verdict"], "regression");
  EXPECT_EQ(verdict_of(kLinear)["accepted"], nullptr);
  said_.str("");
  EXPECT_EQ(gate(slowed(1.3)), kRegression) << "it outgrew what was accepted";
  EXPECT_THAT(said_.str(), HasSubstr("% was accepted until 2999-12-31 by ann"));
  EXPECT_EQ(verdict_of(kFused)["accepted"]["state"], "outgrown");
}

TEST_F(AcknowledgeTest, KeepsOtherEntriesAndReplacesItsOwn) {
  folder_.write("store/accepted.json",
                R"([{"pattern": "^linear/", "effect": [0, 0.1], "reason": "x", "who": "bob",
                     "until": "2030-01-01"}])");
  run();
  request_.reason = "approximate gelu was wrong";
  request_.link = "https://example.org/7";
  run();
  EXPECT_THAT(out_.str(), StartsWith("replaced ^geglu/"));
  const nlohmann::json entries = json_in(request_.accepted);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0]["who"], "bob");
  EXPECT_EQ(entries[1]["link"], "https://example.org/7");
}

TEST_F(AcknowledgeTest, RefusesWhatIsNothingToAccept) {
  request_.benchmarks = {"^linear/"};
  EXPECT_THAT(problem(), HasSubstr("gate.json: verdicts: no regression that is not accepted fits"));
  request_ = {.gate = request_.gate,
              .all = true,
              .reason = "x",
              .until = "2999-12-31",
              .who = "ann",
              .accepted = request_.accepted};
  run();
  gate(slowed());
  EXPECT_THAT(problem(), HasSubstr("has no regression that is not accepted"));
  request_.until = "2026-01-01";
  EXPECT_THAT(problem(), HasSubstr("--until: must be a day to come"));
  request_.benchmarks = {"a"};
  EXPECT_THAT(problem(), HasSubstr("--benchmark: name benchmarks by a pattern, or all with --all"));
}

TEST_F(AcknowledgeTest, APatternThatFitsNothingStopsTheGate) {
  folder_.write("store/accepted.json",
                R"([{"pattern": "^gelu/", "effect": [0, 0.1], "reason": "x", "who": "bob",
                     "until": "2999-01-01"}])");
  const auto problem_of_gate = [&] {
    try {
      gate(slowed());
    } catch (const baselines::InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(problem_of_gate(),
              HasSubstr("accepted.json: [0].pattern: \"^gelu/\" fits no benchmark of the runs"));
  FakeRunFile other{.times = {{"gelu/fused/bf16/batch:1", 1000}}, .suite = "nightly"};
  accept(write_run(folder_, "nightly", other), folder_.path() / "store");
  EXPECT_EQ(problem_of_gate(), "none") << "another suite's";
}

TEST_F(AcknowledgeTest, AFilterJudgesAPart) {
  said_.str("");
  gate_.judging.filter = "^linear/";
  EXPECT_EQ(gate(slowed()), kNoRegression);
  EXPECT_THAT(said_.str(), StartsWith("Filtered: 1 of 2 benchmarks judged. No regression"));
  EXPECT_EQ(json_in(request_.gate)["filter"]["of"], 2);
  EXPECT_EQ(json_in(request_.gate)["verdicts"].size(), 1u);
  gate_.judging.filter = "^geglu/";
  EXPECT_EQ(gate(slowed()), kRegression);
  gate_.judging.filter = "^gelu/";
  EXPECT_THROW(gate(slowed()), baselines::InputError);
}

}  // namespace
}  // namespace fusegate::ci
