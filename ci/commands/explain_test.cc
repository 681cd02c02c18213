#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/launches/test_profile.h"
#include "ci/commands/commands.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::run_file_text;
using tests::write_run;

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kMlp = "geglu_mlp/unfused/bf16/batch:64/seq:128/dim:768/hidden:3072";
constexpr const char* kGemm = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
constexpr const char* kOther = "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT";

class ExplainCommandTest : public testing::Test {
 protected:
  ExplainCommandTest() { request_.baseline = write_run(folder_, "base", file(launches_, 0)); }

  static FakeRunFile file(const std::vector<baselines::TestLaunch>& launches, double slower) {
    FakeRunFile file;
    file.times[kMlp] = 100e3 * (1 + slower);
    file.profiles[kMlp] = baselines::test_profile_json(launches);
    return file;
  }
  baselines::ExitCode explain(const FakeRunFile& candidate) {
    request_.candidate = write_run(folder_, "head", candidate);
    Console console{out_, out_};
    return explain_command(request_, console);
  }

  baselines::ScratchFolder folder_;
  std::vector<baselines::TestLaunch> launches_{
      {kGemm, "gate_proj", 55e3}, {"some_gelu", "gelu", 5e3}, {kGemm, "down_proj", 40e3}};
  ExplainRequest request_{.baseline = {}, .candidate = {}, .benchmark = kMlp, .rule = {}};
  std::ostringstream out_;
};

TEST_F(ExplainCommandTest, SaysThatNothingChanged) {
  EXPECT_EQ(explain(file(launches_, 0)), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(std::string(kMlp) + "\nunchanged: "),
                    HasSubstr("gate_proj  cublas nvjet bf16 256x128x64 tn  55.00 us   55.00 us  "
                              " +0 ns      -\n"),
                    EndsWith("unchanged: nothing changed: the same kernels in the same time.\n")));
}

TEST_F(ExplainCommandTest, ShowsTheKernelThatGotSlower) {
  launches_[2].duration_ns = 45e3;
  EXPECT_EQ(explain(file(launches_, 0.05)), baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("time       100.0 us -> 105.0 us, +5.00 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("effect     +5.00 %, ["));
  EXPECT_THAT(out_.str(), HasSubstr("clock      1.980 GHz -> 1.980 GHz, +0.00 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("40.00 us   45.00 us  +5.000 us  100.0 %\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nregression: the same kernel, slower: cublas nvjet"));
}

TEST_F(ExplainCommandTest, ShowsThatAnotherKernelWasPicked) {
  launches_[2] = {kOther, "down_proj", 45e3};
  explain(file(launches_, 0.05));
  EXPECT_THAT(out_.str(),
              HasSubstr("\nregression: different kernel in down_proj: tile 256x128x64"));
}

TEST_F(ExplainCommandTest, ShowsAnotherLaunch) {
  launches_.push_back({"copy", "down_proj", 5e3});
  launches_.push_back({"", "down_proj", 1e3});
  explain(file(launches_, 0.05));
  EXPECT_THAT(out_.str(), HasSubstr("+5.000 us  50.0 %  new\n"));
  EXPECT_THAT(out_.str(), HasSubstr("memory operations, 0 -> 1"));
  EXPECT_THAT(out_.str(), HasSubstr("regression: 1 kernel more (copy in down_proj); 1 memory "
                                    "operation more (0 -> 1)."));
}

TEST_F(ExplainCommandTest, ShowsGapsBetweenKernels) {
  launches_[1].gap_ns += 30e3;
  EXPECT_EQ(explain(file(launches_, 0)), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("unchanged: the same kernels with 30.00 us more between them"));
}

TEST_F(ExplainCommandTest, ExplainsAcrossLibrariesAndSaysWhatDiffers) {
  FakeRunFile other = file(launches_, 0);
  other.driver = "999.0";
  EXPECT_EQ(explain(other), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("differs: driver is 580.159.04 in the baseline, 999.0 in the"));
}

TEST_F(ExplainCommandTest, SaysWhatIsNotKnownWithoutProfiles) {
  FakeRunFile slow = file(launches_, 0.05);
  slow.profiles.clear();
  EXPECT_EQ(explain(slow), baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("regression: a side has no profile"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("between kernels")));
}

TEST_F(ExplainCommandTest, SaysThatMachineCodeChanged) {
  launches_ = {{"void k()", "k", 100e3}};
  FakeRunFile before = file(launches_, 0), after = file(launches_, 0.05);
  before.codes[kMlp] = "0a";
  after.codes[kMlp] = "0b";
  request_.baseline = write_run(folder_, "known", before);
  EXPECT_EQ(explain(after), baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("\nk: machine code of void k() changed\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nregression: k: machine code of void k() changed; the "
                                    "profiled calls do not show the change: +0 ns in them"));
}

TEST_F(ExplainCommandTest, SaysThatMachineCodeChangedWithUnchangedTime) {
  launches_ = {{"void k()", "k", 100e3}};
  FakeRunFile before = file(launches_, 0), after = file(launches_, 0);
  before.codes[kMlp] = "0a";
  after.codes[kMlp] = "0b";
  request_.baseline = write_run(folder_, "known", before);
  EXPECT_EQ(explain(after), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(),
              EndsWith("unchanged: k: machine code of void k() changed; time is unchanged.\n"));
}

TEST_F(ExplainCommandTest, SaysWhyItIsNotKnownWhetherMachineCodeChanged) {
  FakeRunFile after = file(launches_, 0.05);
  after.codes[kMlp] = "";
  explain(after);
  EXPECT_THAT(out_.str(), HasSubstr("is identical is unknown: this kind"));
  EXPECT_THAT(out_.str(), HasSubstr("; whether their machine code changed is unknown: "));
}

TEST_F(ExplainCommandTest, SaysHowManyProcessesLaunchedTheseKernels) {
  std::vector<baselines::TestLaunch> other = launches_;
  other[2].name = kOther;
  folder_.write("head/6.json", run_file_text(file(other, 0)));
  explain(file(launches_, 0));
  EXPECT_THAT(out_.str(), HasSubstr("5 of the candidate's 6 profiled processes launched these"));
}

TEST_F(ExplainCommandTest, NamesNearBenchmarks) {
  request_.benchmark = "geglu_mlp/unfused/bf16/batch:64/seq:128/dim:768/hidden:3073";
  EXPECT_THAT(
      [&] { explain(file(launches_, 0)); },
      ThrowsMessage<baselines::InputError>(HasSubstr(std::string("; near: ") + kMlp + ", ")));
  request_.benchmark = "linear";
  EXPECT_THAT([&] { explain(file(launches_, 0)); },
              ThrowsMessage<baselines::InputError>(HasSubstr("; near: linear/addmm/")));
}

TEST_F(ExplainCommandTest, SaysWhatBecameOfTheHostsTime) {
  FakeRunFile base = file(launches_, 0);
  base.host_ns[kMlp] = 3060;
  request_.baseline = write_run(folder_, "base", base);
  base.host_ns[kMlp] = 53580;
  EXPECT_EQ(explain(base), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("host time: slower: ") + kMlp +
                                    " 3.060 us -> 53.58 us (+1650.98 %)\n"));
  EXPECT_THAT(out_.str(), HasSubstr("the host takes 53.58 us to launch them instead of 3.06"));
}

TEST_F(ExplainCommandTest, CannotJudgeWhatOneRunLacks) {
  EXPECT_EQ(explain({}), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(out_.str(), HasSubstr("missing: the candidate has no such benchmark"));
}

TEST_F(ExplainCommandTest, ExplainsAgainstAStoredBaseline) {
  AcceptRequest accept;
  accept.runs = {request_.baseline};
  accept.reason = "a reason";
  accept.who = "somebody";
  accept.store = folder_.path() / "store";
  Console console{out_, out_};
  accept_command(accept, console);
  request_.baseline = folder_.path() / "store/nvidia-h200/smoke.json";
  launches_[2].duration_ns = 45e3;
  EXPECT_EQ(explain(file(launches_, 0.05)), baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr("the same kernel, slower: cublas nvjet"));
}

TEST_F(ExplainCommandTest, TheGateSaysTheSame) {
  launches_[2] = {kOther, "down_proj", 45e3};
  GateRequest gate;
  gate.judging.baseline = {request_.baseline};
  gate.judging.candidate = {write_run(folder_, "head", file(launches_, 0.05))};
  gate.files.markdown = folder_.path() / "gate.md";
  Console console{out_, out_};
  EXPECT_EQ(gate_command(gate, console), baselines::ExitCode::kRegression);
  EXPECT_THAT(out_.str(), HasSubstr(std::string("\n") + kMlp +
                                    ": different kernel in down_proj: tile 256x128x64 -> "));
  EXPECT_THAT(baselines::read_file(*gate.files.markdown),
              HasSubstr(std::string("| `") + kMlp + "` | different kernel in down_proj: tile"));
}

}  // namespace
}  // namespace fusegate::ci
