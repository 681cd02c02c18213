#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/commands/commands.h"
#include "ci/run/run_record.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::run_file_text;
using tests::write_run;

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

class GateCommandTest : public ::testing::Test {
 protected:
  GateCommandTest() {
    request_.judging.baseline = {write_run(folder_, "base", {})};
    request_.files.json = folder_.path() / "gate.json";
    request_.files.markdown = folder_.path() / "gate.md";
  }
  baselines::ExitCode gate(const FakeRunFile& file) {
    request_.judging.candidate = {write_run(folder_, "head", file)};
    Console console{out_, err_};
    return gate_command(request_, console);
  }
  nlohmann::json json() const {
    return nlohmann::json::parse(baselines::read_file(*request_.files.json));
  }
  std::string markdown() const { return baselines::read_file(*request_.files.markdown); }

  baselines::ScratchFolder folder_;
  GateRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(GateCommandTest, PassesWhatIsAsItWas) {
  EXPECT_EQ(gate({}), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(json()["exit_code"], 0);
  EXPECT_EQ(json()["verdicts"].size(), 2u);
  EXPECT_THAT(out_.str(), StartsWith("No regression"));
  EXPECT_THAT(markdown(), HasSubstr("No regression"));
}

TEST_F(GateCommandTest, PassesIdenticalCodeWhateverItsTimes) {
  FakeRunFile base;
  FakeRunFile head;
  for (const auto& [name, time_ns] : base.times) base.codes[name] = head.codes[name] = "0f";
  for (auto& [name, time_ns] : head.times) time_ns *= 1.1;
  request_.judging.baseline = {write_run(folder_, "base", base)};
  EXPECT_EQ(gate(head), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), StartsWith("No regression in 2 benchmarks, all identical."));
  EXPECT_EQ(json()["counts"]["identical"], 2);
  EXPECT_EQ(json()["verdicts"][0]["ruled_out"], 0);
  head.codes[kFused] = "1e";
  EXPECT_EQ(gate(head), baselines::ExitCode::kCouldNotJudge)
      << "10 % slower, as what did not change: that may be the machine, or not";
  EXPECT_EQ(json()["counts"]["identical"], 1);
  EXPECT_EQ(json()["counts"]["inconclusive"], 1);
}

TEST_F(GateCommandTest, CountsWhatDidNotFinishWhereAskedAloneAndSaysSo) {
  FakeRunFile slow{.finished = false};
  for (auto& [name, time_ns] : slow.times) time_ns *= 3;
  const std::string head = write_run(folder_, "head", {}, 5);
  folder_.write("head/6.json", run_file_text(slow));
  request_.judging.candidate = {head};
  Console console{out_, err_};
  EXPECT_EQ(gate_command(request_, console), baselines::ExitCode::kNoRegression);
  const std::string left_out = "1 process did not finish and is left out: " + head + "/6.json";
  EXPECT_THAT(out_.str(), HasSubstr(left_out));
  EXPECT_THAT(markdown(), HasSubstr("did not finish and is left out"));
  EXPECT_THAT(json()["notes"].dump(), HasSubstr(left_out));
  EXPECT_EQ(json()["verdicts"][0]["candidate_processes"], 5);
  request_.judging.unfinished = baselines::Unfinished::kCounts;
  gate_command(request_, console);
  EXPECT_EQ(json()["verdicts"][0]["candidate_processes"], 6);
  EXPECT_THAT(json()["notes"].dump(), HasSubstr("counts (--unfinished)"));
}

TEST_F(GateCommandTest, EndsWithTwoWhereLessIsRuledOutThanIsAskedFor) {
  request_.judging.require_ruled_out = 0.06;
  EXPECT_EQ(gate({}), baselines::ExitCode::kNoRegression);
  request_.judging.require_ruled_out = 0.00001;
  EXPECT_EQ(gate({}), baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_THAT(markdown(), HasSubstr("are not ruled out in 2 of 2 benchmarks"));
}

TEST_F(GateCommandTest, FailsWhatGotSlowerAndNamesIt) {
  FakeRunFile file;
  file.times[kFused] *= 1.2;
  EXPECT_EQ(gate(file), baselines::ExitCode::kRegression);
  EXPECT_EQ(json()["exit_code"], 1);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("regression  ") + kFused + "  +20.00 %"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("regression  linear")));
  EXPECT_THAT(markdown(), HasSubstr(std::string("| regression | `") + kFused + "` | +20.00 % |"));
}

TEST_F(GateCommandTest, FollowsTheSmallestEffect) {
  FakeRunFile file;
  file.times[kFused] *= 1.05;
  request_.judging.min_effect = 0.1;
  EXPECT_EQ(gate(file), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("effects above 10 %"));
}

TEST_F(GateCommandTest, DoesNotJudgeAcrossEnvironments) {
  FakeRunFile file;
  file.driver = "999.0";
  EXPECT_EQ(gate(file), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("driver: 580.159.04 in the baseline, 999.0 in the candidate"));
  EXPECT_THAT(markdown(),
              HasSubstr("differs: driver: 580.159.04 in the baseline, 999.0 in the candidate"));
  request_.judging.allow_environment_differences = true;
  EXPECT_EQ(gate(file), baselines::ExitCode::kNoRegression);
}

TEST_F(GateCommandTest, DoesNotPassFailedBenchmarks) {
  FakeRunFile file;
  file.times.erase(kFused);
  file.failures = {{kFused, "results are wrong"}};
  EXPECT_EQ(gate(file), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("results are wrong"));
}

TEST_F(GateCommandTest, LetsNoFormerVerdictStandWhereItCannotJudge) {
  gate({});
  folder_.write("head/1.json", "{\"context\": }");
  request_.judging.candidate = {folder_.path() / "head"};
  Console console{out_, err_};
  EXPECT_THROW(gate_command(request_, console), baselines::InputError);
  EXPECT_EQ(json()["exit_code"], 2);
  EXPECT_EQ(json()["verdicts"].size(), 0u);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("1.json"));
  EXPECT_THAT(markdown(), HasSubstr("Could not judge"));
}

TEST_F(GateCommandTest, AFileThatCannotBeWrittenCostsNoOther) {
  request_.files.json = folder_.path();  // a folder
  try {
    gate({});
    FAIL();
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), StartsWith(folder_.path().string()));
  }
  EXPECT_THAT(out_.str(), StartsWith("No regression"));
  EXPECT_THAT(markdown(), HasSubstr("No regression"));
}

TEST_F(GateCommandTest, SaysWhyItCannotJudgeAlsoWhereItCannotWriteThat) {
  request_.files.json = folder_.path();
  request_.judging.candidate = {folder_.path() / "nowhere"};
  Console console{out_, err_};
  try {
    gate_command(request_, console);
    FAIL();
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nowhere: cannot open"));
  }
  EXPECT_THAT(err_.str(), StartsWith("fusegate: " + folder_.path().string()));
  EXPECT_THAT(markdown(), HasSubstr("Could not judge"));
}

TEST_F(GateCommandTest, ReportsTheCandidatesAaComparison) {
  gate({});
  EXPECT_TRUE(json()["aa"].is_null());
  EXPECT_THAT(out_.str(), Not(HasSubstr("A/A")));
  RunRecord record;
  record.aa = AaFindings{56, {"linear/x|y"}, 5, 12, 1};
  write_run_record(request_.judging.candidate[0], record);
  EXPECT_EQ(gate({}),
            baselines::ExitCode::kNoRegression);  // an alarm among equals is nobody's regression
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
  gate({});
  folder_.write("head/run.json", R"({"aa": {"benchmarks": "many"}})");
  request_.judging.candidate = {folder_.path() / "head"};
  Console console{out_, err_};
  EXPECT_THROW(gate_command(request_, console), baselines::InputError);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("run.json: aa.benchmarks: must be"));
  folder_.write("head/run.json", R"({"theirs": 1})");
  EXPECT_EQ(gate_command(request_, console), baselines::ExitCode::kNoRegression);
}

// 20 us of CPU in front of a launch: of the same machine code, in the same time.
class HostTimeGateTest : public GateCommandTest {
 protected:
  HostTimeGateTest() {
    for (const auto& [name, time_ns] : base_.times) {
      base_.host_ns[name] = 9100;
      base_.codes[name] = "0f";
    }
    request_.judging.baseline = {write_run(folder_, "base", base_)};
    slower_ = base_;
    slower_.host_ns[kFused] = 29200;
  }

  FakeRunFile base_;
  FakeRunFile slower_;
};

TEST_F(HostTimeGateTest, ReportsThatLaunchingTakesLongerAndPasses) {
  EXPECT_EQ(gate(slower_), baselines::ExitCode::kNoRegression) << out_.str();
  EXPECT_THAT(out_.str(), StartsWith("No regression in 2 benchmarks, all identical. 1 benchmark "
                                     "takes the host longer to launch.\n"));
  EXPECT_THAT(out_.str(),
              HasSubstr(std::string("Host time: 1 benchmark takes the host longer to launch: ") +
                        kFused + " 9.100 us -> 29.20 us (+220.88 %)."));
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
}

TEST_F(HostTimeGateTest, FailsWhereAskedTo) {
  request_.judging.fail_on_host = true;
  EXPECT_EQ(gate(base_), baselines::ExitCode::kNoRegression) << out_.str();
  out_.str("");
  EXPECT_EQ(gate(slower_), baselines::ExitCode::kRegression) << out_.str();
  EXPECT_EQ(json()["exit_code"], 1);
  EXPECT_THAT(
      out_.str(),
      StartsWith(std::string("1 benchmark takes the host longer to launch, the most ") + kFused +
                 " 9.100 us -> 29.20 us (+220.88 %). No regression in 2 "
                 "benchmarks, all identical.\n"));
}

TEST_F(HostTimeGateTest, CannotJudgeWhatItDoesNotKnow) {
  request_.judging.fail_on_host = true;
  FakeRunFile without = base_;
  without.host_ns.clear();
  EXPECT_EQ(gate(without), baselines::ExitCode::kCouldNotJudge) << out_.str();
  EXPECT_THAT(out_.str(), StartsWith("Could not judge: no benchmark has a host time in both runs"));
  out_.str("");
  request_.judging.baseline = {write_run(folder_, "few", base_, 3)};
  EXPECT_EQ(gate(slower_), baselines::ExitCode::kCouldNotJudge) << out_.str();
  EXPECT_THAT(out_.str(),
              StartsWith(std::string("Could not judge: 1 benchmark seems to take the host longer "
                                     "to launch, the most ") +
                         kFused +
                         " 9.100 us -> 29.20 us (+220.88 %): a side has fewer than 4 "
                         "processes; measure at least 4.\n"));
  out_.str("");
  EXPECT_EQ(gate(base_), baselines::ExitCode::kNoRegression) << out_.str();
}

TEST_F(HostTimeGateTest, AnotherHostIsReportedAndFailsNothing) {
  request_.judging.fail_on_host = true;
  slower_.host = "node-2";
  EXPECT_EQ(gate(slower_), baselines::ExitCode::kNoRegression) << out_.str();
  EXPECT_EQ(json()["host_times"]["other_host"], true);
  EXPECT_EQ(json()["host_times"]["changes"][0]["verdict"], "looks_slower");
  EXPECT_THAT(out_.str(),
              HasSubstr("It is not reported as slower: it was measured on another host"));
  EXPECT_THAT(out_.str(), HasSubstr("Host time: the sides were measured on two hosts, so it fails "
                                    "nothing"));
}

TEST_F(HostTimeGateTest, FollowsTheSmallestEffectsOfTheBaselinesSuite) {
  request_.judging.fail_on_host = true;
  base_.protocol = {{"samples", 8}, {"host_min_ns", 25000}};
  slower_.protocol = {{"samples", 8}};
  request_.judging.baseline = {write_run(folder_, "base", base_)};
  EXPECT_EQ(gate(slower_), baselines::ExitCode::kNoRegression) << out_.str();
  EXPECT_EQ(json()["host_times"]["changes"].size(), 0u);
  EXPECT_EQ(json()["rule"]["host_min_ns"], 25000);
  EXPECT_EQ(json()["rule"]["host_min_effect"], 0.1);
}

TEST_F(GateCommandTest, SaysHowToRecordABaselineThatIsMissing) {
  request_.judging.baseline.clear();
  request_.judging.stores = {folder_.path() / "store"};
  try {
    gate({});
    FAIL() << "judged";
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fusegate accept RUN --reason TEXT"));
  }
}

// Against a store that `fusegate accept` fills.
class StoredGateTest : public GateCommandTest {
 protected:
  StoredGateTest() {
    request_.judging.baseline.clear();
    request_.judging.stores = {folder_.path() / "store"};
  }
  void accept(const FakeRunFile& file) {
    AcceptRequest request;
    request.runs = {write_run(folder_, "accepted", file)};
    request.reason = "a reason";
    request.who = "somebody";
    request.store = request_.judging.stores.front();
    Console console{out_, err_};
    accept_command(request, console);
    out_.str("");
  }
  // Slower by that in every shape of geglu/fused, on a machine that stands still.
  static FakeRunFile slowed(double factor) {
    FakeRunFile file;
    file.times = {{"linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072", 60000}};
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
};

TEST_F(StoredGateTest, SaysNothingWhereTheAnchorIsTheBaseline) {
  accept(slowed(1));
  EXPECT_EQ(gate(slowed(1.001)), baselines::ExitCode::kNoRegression);
  EXPECT_TRUE(json()["anchor"].is_null());
  EXPECT_THAT(out_.str(), Not(HasSubstr("anchor")));
}

// Each step is below the smallest effect, and each is accepted: the gate never calls it.
TEST_F(StoredGateTest, TheAnchorShowsWhatCreepsInSmallSteps) {
  request_.judging.min_effect = 0.005;
  double factor = 1;
  accept(slowed(factor));
  for (int step = 1; step <= 6; ++step) {
    factor *= 1.003;
    out_.str("");
    EXPECT_EQ(gate(slowed(factor)), baselines::ExitCode::kNoRegression) << out_.str();
    EXPECT_EQ(json()["counts"]["regression"], 0) << step;
    EXPECT_EQ(json()["families"][0]["regressions"], 0) << step;
    if (step < 6) accept(slowed(factor));
  }
  EXPECT_THAT(out_.str(), HasSubstr("3 of geglu/fused/bf16 1.8 % slower."));
  EXPECT_THAT(markdown(), HasSubstr("1.8 % slower"));
  ASSERT_EQ(json()["creep"].size(), 3u);
  EXPECT_THAT(json()["creep"][0]["what"], StartsWith("geglu/fused/bf16/batch:"));
  EXPECT_NEAR(json()["creep"][0]["effect"].get<double>(), 0.018, 5e-4);
  request_.judging.max_creep = 0.03;
  EXPECT_EQ(gate(slowed(factor)), baselines::ExitCode::kNoRegression);
  request_.judging.max_creep = 0.015;
  out_.str("");
  EXPECT_EQ(gate(slowed(factor)), baselines::ExitCode::kRegression);
  EXPECT_EQ(json()["exit_code"], 1);
  EXPECT_THAT(
      out_.str(),
      StartsWith("3 of 24 benchmarks got slower by more than 1.5 % since the anchor of 20"));
}

TEST_F(StoredGateTest, AnAnchorOfAnotherEnvironmentIsNotedOnce) {
  FakeRunFile other = slowed(1);
  other.driver = "570.1";
  accept(other);
  accept(slowed(1.02));
  EXPECT_EQ(gate(slowed(1.02)), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(json()["creep"].size(), 0u);
  EXPECT_THAT(json()["anchor"]["not_judged"].get<std::string>(), HasSubstr("driver is 570.1"));
  EXPECT_EQ(json()["notes"].size(), 2u) << json()["notes"];
  EXPECT_THAT(out_.str(), testing::AllOf(HasSubstr("cannot be compared with the anchor of "),
                                         HasSubstr(": driver is 570.1 there")));
}

TEST_F(StoredGateTest, NamesABrokenAnchor) {
  accept(slowed(1));
  folder_.write("store/nvidia-h200/smoke.anchor.json", "[]");
  EXPECT_THROW(gate(slowed(1)), baselines::InputError);
  EXPECT_THAT(json()["headline"].get<std::string>(), HasSubstr("smoke.anchor.json"));
}

TEST_F(StoredGateTest, KeepsTheHostTimesOfEveryProcess) {
  FakeRunFile file = slowed(1);
  for (const auto& [name, time_ns] : file.times) file.host_ns[name] = 9100;
  accept(file);
  request_.judging.fail_on_host = true;
  EXPECT_EQ(gate(file), baselines::ExitCode::kNoRegression) << out_.str();
  file.host_ns[kFused] = 29200;
  EXPECT_EQ(gate(file), baselines::ExitCode::kRegression) << out_.str();
}

TEST_F(StoredGateTest, NotesAStaleBaseline) {
  accept(slowed(1));
  FakeRunFile later = slowed(1);
  later.date = "2099-01-01T00:00:00+00:00";
  later.times.erase("geglu/fused/bf16/batch:1/seq:128/dim:768/hidden:3072");
  later.times["geglu/new/bf16/batch:1/seq:128/dim:768/hidden:3072"] = 1000;
  EXPECT_EQ(gate(later), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(json()["staleness"]["too_old"], true);
  EXPECT_THAT(out_.str(), HasSubstr("note       The baseline is stale: it was accepted "));
  EXPECT_THAT(out_.str(), HasSubstr("1 benchmark is not in the baseline: geglu/new/bf16/"));
  EXPECT_THAT(out_.str(), HasSubstr("1 benchmark is not in the candidate: geglu/fused/bf16/"));
  EXPECT_THAT(markdown(), HasSubstr("The baseline is stale"));
  request_.judging.max_age_days = 1e6;
  gate(later);
  EXPECT_EQ(json()["staleness"]["too_old"], false);
}

TEST_F(GateCommandTest, APlainRunIsNeverStale) {
  gate({});
  EXPECT_TRUE(json()["staleness"].is_null());
  EXPECT_TRUE(json()["anchor"].is_null());
}

}  // namespace
}  // namespace fusegate::ci
