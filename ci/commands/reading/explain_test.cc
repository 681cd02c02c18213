#include "baselines/launches/test_profile.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

constexpr const char* kMlp = "geglu_mlp/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072";
constexpr const char* kGemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";

class ExplainCommandTest : public CommandTest<ExplainRequest, explain_command> {
 protected:
  ExplainCommandTest() {
    request_.baseline = write_run(folder_, "base", file(0));
    request_.benchmark = kMlp;
  }

  FakeRunFile file(double slower) const {
    FakeRunFile file;
    file.times[kMlp] = 100e3 * (1 + slower);
    file.profiles[kMlp] = baselines::test_profile_json(launches_);
    return file;
  }
  ExitCode explain(const FakeRunFile& candidate) {
    request_.candidate = write_run(folder_, "head", candidate);
    return run();
  }

  std::vector<baselines::TestLaunch> launches_{
      {kGemm, "gate_proj", 55e3}, {"some_gelu", "gelu", 5e3}, {kGemm, "down_proj", 40e3}};
};

TEST_F(ExplainCommandTest, SaysThatNothingChanged) {
  EXPECT_EQ(explain(file(0)), kNoRegression);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(std::string(kMlp) + "\nunchanged: "),
                    HasSubstr("gate_proj  cublas nvjet bf16 256x128x64 tn  55.00 us   55.00 us  "
                              " +0 ns      -\n"),
                    EndsWith("unchanged: nothing changed: the same kernels in the same time.\n")));
}

TEST_F(ExplainCommandTest, ShowsTheKernelThatGotSlower) {
  launches_[2].duration_ns = 45e3;
  EXPECT_EQ(explain(file(0.05)), kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("time       100.0 us -> 105.0 us, +5.00 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("effect     +5.00 %, ["));
  EXPECT_THAT(out_.str(), HasSubstr("clock      1.980 GHz -> 1.980 GHz, +0.00 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("40.00 us   45.00 us  +5.000 us  100.0 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nregression: the same kernel, slower: cublas nvjet"));
}

TEST_F(ExplainCommandTest, ShowsAnotherLaunch) {
  launches_.push_back({"copy", "down_proj", 5e3});
  launches_.push_back({"", "down_proj", 1e3});
  explain(file(0.05));
  EXPECT_THAT(out_.str(), HasSubstr("+5.000 us  50.0 %  new\n"));
  EXPECT_THAT(out_.str(), HasSubstr("memory operations, 0 -> 1"));
  EXPECT_THAT(out_.str(), HasSubstr("regression: 1 kernel more (copy in down_proj); 1 memory "
                                    "operation more (0 -> 1)."));
}

TEST_F(ExplainCommandTest, ExplainsAcrossLibrariesAndSaysWhatDiffers) {
  FakeRunFile other = file(0);
  other.driver = "999.0";
  EXPECT_EQ(explain(other), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("differs: driver is 580.159.04 in the baseline, 999.0 in the"));
}

TEST_F(ExplainCommandTest, SaysWhatIsNotKnownWithoutProfiles) {
  FakeRunFile slow = file(0.05);
  slow.profiles.clear();
  EXPECT_EQ(explain(slow), kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("regression: a side has no profile"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("between kernels")));
}

TEST_F(ExplainCommandTest, SaysThatMachineCodeChanged) {
  launches_ = {{"void k()", "k", 100e3}};
  FakeRunFile before = file(0), after = file(0.05);
  before.codes[kMlp] = "0a";
  after.codes[kMlp] = "0b";
  request_.baseline = write_run(folder_, "known", before);
  EXPECT_EQ(explain(after), kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("\nk: machine code of void k() changed\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nregression: k: machine code of void k() changed; the "
                                    "profiled calls do not show the change: +0 ns in them"));
}

TEST_F(ExplainCommandTest, SaysWhyItIsNotKnownWhetherMachineCodeChanged) {
  FakeRunFile after = file(0.05);
  after.codes[kMlp] = "";
  explain(after);
  EXPECT_THAT(out_.str(), HasSubstr("is identical is unknown: this kind"));
  EXPECT_THAT(out_.str(), HasSubstr("; whether their machine code changed is unknown: "));
}

TEST_F(ExplainCommandTest, SaysHowManyProcessesLaunchedTheseKernels) {
  launches_[2].name = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT";
  folder_.write("head/6.json", run_file_text(file(0)));
  launches_[2].name = kGemm;
  explain(file(0));
  EXPECT_THAT(out_.str(), HasSubstr("5 of the candidate's 6 profiled processes launched these"));
}

TEST_F(ExplainCommandTest, NamesNearBenchmarks) {
  request_.benchmark = "geglu_mlp/unfused/bf16/batch:64/seq:128/dim:768/hidden:3073";
  request_.candidate = write_run(folder_, "head", file(0));
  EXPECT_THAT(problem(), HasSubstr(std::string("; near: ") + kMlp + ", "));
  request_.benchmark = "linear";
  EXPECT_THAT(problem(), HasSubstr("; near: linear/addmm/"));
}

TEST_F(ExplainCommandTest, SaysWhatBecameOfTheHostsTime) {
  FakeRunFile base = file(0);
  base.host_ns[kMlp] = 3060;
  request_.baseline = write_run(folder_, "base", base);
  base.host_ns[kMlp] = 53580;
  EXPECT_EQ(explain(base), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("host time: slower: ") + kMlp +
                                    " 3.060 us -> 53.58 us (+1650.98 %)\n"));
  EXPECT_THAT(out_.str(), HasSubstr("the host takes 53.58 us to launch them instead of 3.06"));
}

TEST_F(ExplainCommandTest, CannotJudgeWhatOneRunLacks) {
  EXPECT_EQ(explain({}), kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("missing: the candidate has no such benchmark"));
}

}  // namespace
}  // namespace fusegate::ci
