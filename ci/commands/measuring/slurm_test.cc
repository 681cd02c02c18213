#include "ci/commands/measuring/measuring_test.h"
#include "tests/fakes/fake_slurm.h"

namespace fusegate::ci {
namespace {

class SlurmCommandTest : public CommandTest<SlurmRequest, slurm_command> {
 protected:
  SlurmCommandTest() {
    request_.action = "submit";
    request_.plan = folder_.write("plan.json",
                                  R"({"fusegate_plan": 1, "suite": "smoke", "controls": [],
                                      "shards": [{"benchmarks": ["a"]}, {"benchmarks": ["b"]}]})");
    request_.out = folder_.path() / "sweep";
    request_.command = {"run", "--processes", "2"};
  }
  void act(const std::string& action) {
    request_ = {.action = action, .folder = folder_.path() / "sweep"};
  }

  tests::FakeSlurm slurm_{folder_};
};

TEST_F(SlurmCommandTest, SubmitsAndSaysHowFarItIs) {
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), HasSubstr("job 1: shards 1-2 of 2\n"));
  slurm_.prints("squeue", "1|1|RUNNING|n1|0|None|\n1|2|FAILED|n2|512|None|\n");
  act("status");
  EXPECT_EQ(run(), kCouldNotJudge) << "a shard failed";
  EXPECT_THAT(out_.str(), HasSubstr("running on n1"));
  act("collect");
  request_.out = folder_.path() / "run";
  EXPECT_THAT(problem(), HasSubstr("sweep: shard 1: running on n1, shard 2: failed with exit "));
}

// Not after hours in a queue.
TEST_F(SlurmCommandTest, RefusesWhatATaskWouldRefuse) {
  request_.command = {"run", "--process", "2"};
  EXPECT_THAT(problem(), HasSubstr("slurm submit: -- run: \"--process\" is not a flag of run; "));
  request_.command = {"duet", "--head", "x"};
  EXPECT_THAT(problem(), HasSubstr("-- duet: --base is required"));
  request_.command = {"run", "--suite", "pr"};
  EXPECT_THAT(problem(), HasSubstr("plan.json: suite: is \"smoke\", and --suite is \"pr\""));
  request_.command = {"run", "--suite=pr"};
  EXPECT_THAT(problem(), HasSubstr("plan.json: suite: is \"smoke\""));
  request_.command = {"run", "--resume"};
  EXPECT_THAT(problem(), HasSubstr("--resume: is set for each task"));
  EXPECT_THAT(slurm_.calls("sbatch"), ::testing::IsEmpty());
  EXPECT_FALSE(fs::exists(request_.out));
}

TEST_F(SlurmCommandTest, NamesTheArgumentThatIsMissingOrTooMany) {
  request_.plan.clear();
  EXPECT_THAT(problem(), HasSubstr("slurm submit: --plan: is missing"));
  act("status");
  EXPECT_THAT(problem(), HasSubstr("sweep: has no slurm.json: name a folder that fusegate slurm"));
  request_.out = "x";
  EXPECT_THAT(problem(), HasSubstr("slurm status: --out: is not one of its arguments"));
  act("collect");
  EXPECT_THAT(problem(), HasSubstr("slurm collect: --out: is missing"));
  request_.folder.clear();
  EXPECT_THAT(problem(), HasSubstr("slurm collect: FOLDER: is missing"));
}

}  // namespace
}  // namespace fusegate::ci
