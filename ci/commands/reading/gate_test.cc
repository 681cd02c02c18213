#include "ci/commands/reading/command_test.h"
#include "ci/processes/run_record.h"

namespace fusegate::ci {
namespace {

class GateCommandTest : public CommandTest<GateRequest, gate_command> {
 protected:
  GateCommandTest() {
    request_.judging.baseline = {write_run(folder_, "base", {})};
    request_.files.json = folder_.path() / "gate.json";
    request_.files.markdown = folder_.path() / "gate.md";
  }
  ExitCode gate(const FakeRunFile& file) {
    request_.judging.candidate = {write_run(folder_, "head", file)};
    return run();
  }
  nlohmann::json json() const { return json_in(*request_.files.json); }
  std::string markdown() const { return read_file(*request_.files.markdown); }
};

TEST_F(GateCommandTest, PassesWhatIsAsItWas) {
  EXPECT_EQ(gate({}), kNoRegression);
  EXPECT_EQ(json()["exit_code"], 0);
  EXPECT_EQ(json()["verdicts"].size(), 2u);
  EXPECT_THAT(out_.str(), StartsWith("No regression"));
  EXPECT_THAT(markdown(), HasSubstr("No regression"));
}

TEST_F(GateCommandTest, FailsWhatGotSlowerAndNamesIt) {
  EXPECT_EQ(gate(slowed()), kRegression);
  EXPECT_EQ(json()["exit_code"], 1);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("regression  ") + kFused + "  +20.00 %"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("regression  linear")));
  EXPECT_THAT(markdown(), HasSubstr(std::string("| regression | `") + kFused + "` | +20.00 % |"));
}

TEST_F(GateCommandTest, CountsWhatDidNotFinishWhereAskedAloneAndSaysSo) {
  FakeRunFile slow{.finished = false};
  for (auto& [name, time_ns] : slow.times) time_ns *= 3;
  folder_.write("head/6.json", run_file_text(slow));
  EXPECT_EQ(gate({}), kNoRegression);
  const std::string left_out =
      "1 process did not finish and is left out: " + (folder_.path() / "head" / "6.json").string();
  EXPECT_THAT(out_.str(), HasSubstr(left_out));
  EXPECT_THAT(markdown(), HasSubstr("did not finish and is left out"));
  EXPECT_THAT(json()["notes"].dump(), HasSubstr(left_out));
  EXPECT_EQ(json()["verdicts"][0]["candidate_processes"], 5);
  request_.judging.unfinished = baselines::Unfinished::kCounts;
  run();
  EXPECT_EQ(json()["verdicts"][0]["candidate_processes"], 6);
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("counts (--unfinished)"));
}

TEST_F(GateCommandTest, EndsWithTwoWhereLessIsRuledOutThanIsAskedFor) {
  request_.judging.require_ruled_out = 0.06;
  EXPECT_EQ(gate({}), kNoRegression);
  request_.judging.require_ruled_out = 0.00001;
  EXPECT_EQ(gate({}), kCouldNotJudge);
}

TEST_F(GateCommandTest, DoesNotJudgeAcrossEnvironments) {
  const FakeRunFile file{.driver = "999.0"};
  EXPECT_EQ(gate(file), kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("driver: 580.159.04 in the baseline, 999.0 in the candidate"));
  EXPECT_THAT(markdown(),
              HasSubstr("differs: driver: 580.159.04 in the baseline, 999.0 in the candidate"));
  request_.judging.allow_environment_differences = true;
  EXPECT_EQ(gate(file), kNoRegression);
}

TEST_F(GateCommandTest, LetsNoFormerVerdictStandWhereItCannotJudge) {
  gate({});
  folder_.write("head/1.json", "{\"context\": }");
  EXPECT_THAT(problem(), HasSubstr("head/1.json"));
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_EQ(json()["verdicts"].size(), 0u);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("1.json"));
  EXPECT_THAT(markdown(), HasSubstr("Could not judge"));
}

TEST_F(GateCommandTest, AFileThatCannotBeWrittenCostsNoOther) {
  request_.judging.candidate = {write_run(folder_, "head", {})};
  request_.files.json = folder_.path();  // a folder
  EXPECT_THAT(problem(), StartsWith(folder_.path().string()));
  EXPECT_THAT(out_.str(), StartsWith("No regression"));
  EXPECT_THAT(markdown(), HasSubstr("No regression"));
}

TEST_F(GateCommandTest, SaysWhyItCannotJudgeAlsoWhereItCannotWriteThat) {
  request_.files.json = folder_.path();
  request_.judging.candidate = {folder_.path() / "nowhere"};
  EXPECT_THAT(problem(), HasSubstr("nowhere: cannot open"));
  EXPECT_THAT(err_.str(), StartsWith("fusegate: " + folder_.path().string()));
  EXPECT_THAT(markdown(), HasSubstr("Could not judge"));
}

TEST_F(GateCommandTest, SaysHowToRecordABaselineThatIsMissing) {
  request_.judging.baseline.clear();
  request_.judging.candidate = {write_run(folder_, "head", {})};
  EXPECT_THAT(problem(), HasSubstr("fusegate accept RUN --reason TEXT"));
}

TEST_F(GateCommandTest, ReportsTheCandidatesAaComparison) {
  gate({});
  EXPECT_TRUE(json()["aa"].is_null());
  EXPECT_THAT(out_.str(), Not(HasSubstr("A/A")));
  RunRecord record;
  record.aa = AaFindings{56, {"linear/x|y"}, 5, 12, 1};
  write_run_record(request_.judging.candidate[0], record);
  EXPECT_EQ(run(), kNoRegression) << "an alarm among equals is nobody's regression";
  EXPECT_EQ(json()["aa"]["called"], nlohmann::json({"linear/x|y"}));
  EXPECT_EQ(json()["aa"]["comparisons"], 12);
  EXPECT_THAT(json()["smallest_detectable"]["worst_benchmark"].get<std::string>(),
              HasSubstr("batch:64"));
  EXPECT_THAT(out_.str(), HasSubstr("\nA/A        56 benchmarks, 1 called though nothing changed"));
  EXPECT_THAT(out_.str(), HasSubstr("; smallest detectable effect "));
  EXPECT_THAT(markdown(), HasSubstr("1 of 12 comparisons raised an alarm"));
  EXPECT_THAT(markdown(), Not(HasSubstr("x|y")));
}

TEST_F(GateCommandTest, NamesWhatIsWrongInTheRecordOfTheAaComparison) {
  folder_.write("head/run.json", R"({"aa": {"benchmarks": "many"}})");
  EXPECT_THROW(gate({}), baselines::InputError);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("run.json: aa.benchmarks: must be"));
  folder_.write("head/run.json", R"({"theirs": 1})");
  EXPECT_EQ(run(), kNoRegression);
}

// 20 us of CPU in front of a launch: of the same machine code, in the same time.
TEST_F(GateCommandTest, ReportsThatLaunchingTakesLongerAndPasses) {
  FakeRunFile file{.codes = {{kFused, "0f"}, {kLinear, "0f"}},
                   .host_ns = {{kFused, 9100}, {kLinear, 9100}}};
  request_.judging.baseline = {write_run(folder_, "base", file)};
  file.host_ns[kFused] = 29200;
  EXPECT_EQ(gate(file), kNoRegression);
  EXPECT_THAT(out_.str(), StartsWith("No regression in 2 benchmarks, all identical. 1 benchmark "
                                     "takes the host longer to launch.\n"));
  EXPECT_THAT(out_.str(),
              HasSubstr(std::string("slower   ") + kFused + "  on a stream  +220.88 %"));
  EXPECT_THAT(markdown(), HasSubstr(std::string("| slower | `") + kFused + "` | on a stream |"));
  const nlohmann::json host = json()["host_times"];
  EXPECT_EQ(host["compared"], 2);
  EXPECT_EQ(host["other_host"], false);
  ASSERT_EQ(host["changes"].size(), 1u);
  EXPECT_EQ(host["changes"][0]["benchmark"], kFused);
  EXPECT_EQ(host["changes"][0]["verdict"], "slower");
  EXPECT_EQ(host["changes"][0]["launched"], "stream");
  EXPECT_NEAR(host["changes"][0]["effect"].get<double>(), 2.2088, 1e-4);
  EXPECT_EQ(json()["rule"]["host_min_ns"], 1000);
  EXPECT_EQ(json()["rule"]["host_min_effect"], 0.1);
  file.host = "node-2";
  gate(file);
  EXPECT_EQ(json()["host_times"]["other_host"], true);
  EXPECT_EQ(json()["host_times"]["changes"][0]["verdict"], "looks_slower");
}

// Slower by that in every shape of geglu/fused, on a machine that stands still.
FakeRunFile slowed_family(double factor) {
  FakeRunFile file{.times = {{kLinear, 60000}}};
  for (const char* batch : {"1", "8", "64"}) {
    file.times[std::string("geglu/fused/bf16/batch:") + batch + "/seq:128/dim:768/hidden:3072"] =
        20000 * factor;
  }
  for (int i = 0; i < 20; ++i) {
    const std::string still = fmt::format("still/{}", i);
    file.times[still] = 20000;
    file.codes[still] = "5c";
  }
  return file;
}

// Each step is below the smallest effect, and each is accepted: the gate never calls it.
TEST_F(GateCommandTest, TheAnchorShowsWhatCreepsInSmallSteps) {
  request_.judging.baseline.clear();
  request_.judging.stores = {folder_.path() / "store"};
  request_.judging.min_effect = 0.005;
  double factor = 1;
  for (int step = 1; step <= 6; ++step) {
    accept(write_run(folder_, "accepted", slowed_family(factor)), request_.judging.stores[0]);
    factor *= 1.003;
    EXPECT_EQ(gate(slowed_family(factor)), kNoRegression);
    EXPECT_EQ(json()["counts"]["regression"], 0) << step;
    EXPECT_EQ(json()["families"][0]["regressions"], 0) << step;
  }
  EXPECT_THAT(out_.str(), HasSubstr("3 of geglu/fused/bf16 1.8 % slower."));
  EXPECT_THAT(markdown(), HasSubstr("1.8 % slower"));
  ASSERT_EQ(json()["creep"].size(), 3u);
  EXPECT_THAT(json()["creep"][0]["what"], StartsWith("geglu/fused/bf16/batch:"));
  EXPECT_NEAR(json()["creep"][0]["effect"].get<double>(), 0.018, 5e-4);
  request_.judging.max_creep = 0.03;
  EXPECT_EQ(run(), kNoRegression);
  request_.judging.max_creep = 0.015;
  EXPECT_EQ(run(), kRegression);
  EXPECT_EQ(json()["exit_code"], 1);
  EXPECT_THAT(
      out_.str(),
      StartsWith("3 of 24 benchmarks got slower by more than 1.5 % since the anchor of 20"));
}

}  // namespace
}  // namespace fusegate::ci
