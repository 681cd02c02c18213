#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/commands/commands.h"
#include "ci/measuring/fake_bench.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

class JobCommandTest : public ::testing::Test {
 protected:
  JobCommandTest() {
    setenv("FUSEGATE_PYTHON", "/bin/false", 1);  // pages are drawn elsewhere
    request_.folder = folder_.path() / "kept";
    request_.stores = {folder_.path() / "stored", request_.folder / "baselines"};
    request_.aa_history = folder_.path() / "aa.jsonl";
    request_.program = write_bench(folder_, "bench", {});
    request_.who = "somebody";
  }
  ~JobCommandTest() override { unsetenv("FUSEGATE_PYTHON"); }

  baselines::ExitCode job() {
    out_.str("");
    err_.str("");
    Console console{out_, err_};
    return job_command(request_, console);
  }
  fs::path latest(const std::string& name) const {
    return request_.folder / "reports" / "latest" / name;
  }
  std::string slowed_bench() {
    FakeBench bench{.phase = 1};
    bench.file.times[kFused] *= 1.2;
    return write_bench(folder_, "slowed", bench);
  }

  baselines::ScratchFolder folder_;
  JobRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(JobCommandTest, WhereNobodyHasABaselineTwoRunsAreMeasuredInTurnAndTheFirstIsKept) {
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first second: suite smoke, 3 invocations each"));
  EXPECT_THAT(out_.str(), HasSubstr("] baseline: recorded "));
  EXPECT_THAT(out_.str(), HasSubstr("No regression in 2 benchmarks"));
  EXPECT_TRUE(fs::exists(latest("gate.json")));
  EXPECT_TRUE(fs::exists(latest("gate.md")));
}

TEST_F(JobCommandTest, WithABaselineItMeasuresOnce) {
  job();
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first: "));
  EXPECT_THAT(out_.str(), HasSubstr("] baseline: kept "));
  EXPECT_THAT(out_.str(), Not(HasSubstr("second")));
}

TEST_F(JobCommandTest, WhereOnlyOtherDevicesHaveABaselineASecondRunFollows) {
  fs::create_directories(folder_.path() / "stored" / "other-device");
  baselines::write_atomically(folder_.path() / "stored" / "other-device" / "smoke.json", "{}");
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("] measuring first: "));
  EXPECT_THAT(out_.str(), HasSubstr("] measuring second: "));
}

TEST_F(JobCommandTest, ARegressionEndsWithOne) {
  job();
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
}

TEST_F(JobCommandTest, ARequiredBaselineIsNeverRecorded) {
  request_.require_baseline = true;
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_FALSE(fs::exists(request_.folder / "baselines"));
  EXPECT_THAT(baselines::read_file(latest("gate.json")), HasSubstr("\"exit_code\": 2"));
}

TEST_F(JobCommandTest, ARunThatFailsIsJudgedAndNeverPassesNorBecomesABaseline) {
  job();
  fs::remove_all(folder_.path() / "aa.jsonl");
  FakeBench bench;
  bench.more = "case $out in */2.json) exit 3 ;; esac\n";
  request_.program = write_bench(folder_, "failing", bench);
  EXPECT_EQ(job(), baselines::ExitCode::kCouldNotJudge) << out_.str() << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("not every process ended well"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("baseline: ")));
}

TEST_F(JobCommandTest, APageThatCannotBeDrawnDoesNotChangeTheVerdict) {
  EXPECT_EQ(job(), baselines::ExitCode::kNoRegression);
  EXPECT_THAT(err_.str(), HasSubstr("no HTML report, but the verdict stands"));
}

TEST_F(JobCommandTest, FourInvocationsOfOneRunAreTwoArmsToo) {
  job();
  request_.invocations = 4;
  job();
  EXPECT_THAT(out_.str(), HasSubstr("A/A: "));
}

TEST_F(JobCommandTest, ABaseIsMeasuredSideBySide) {
  request_.base = write_bench(folder_, "base", {});
  request_.invocations = 5;
  request_.program = slowed_bench();
  EXPECT_EQ(job(), baselines::ExitCode::kRegression) << out_.str() << err_.str();
  EXPECT_TRUE(fs::exists(latest("gate.json")));
  EXPECT_FALSE(fs::exists(request_.folder / "baselines"));
}

}  // namespace
}  // namespace fusegate::ci
