#include "ci/slurm/submitting.h"

#include "ci/slurm/slurm_test.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SubmittingTest : public SlurmTest {
 protected:
  std::string problem() {
    return problem_of([this] { submit(); });
  }
  // "1-3", of each call.
  std::vector<std::string> arrays() const {
    std::vector<std::string> arrays;
    for (const std::string& call : slurm_.calls("sbatch")) {
      const std::size_t start = call.find("--array=") + 8;
      arrays.push_back(call.substr(start, call.find(' ', start) - start));
    }
    return arrays;
  }
};

TEST_F(SubmittingTest, StartsATaskForEachShardAndKeepsWhatItDid) {
  submit();
  EXPECT_THAT(arrays(), ElementsAre("1-3"));
  EXPECT_EQ(out_.str(), fmt::format("job 1: shards 1-3 of 3\n"
                                    "follow it with: fusegate slurm status {}\n",
                                    request_.folder.string()));
  const SlurmSweep sweep = read_sweep(request_.folder);
  EXPECT_EQ(sweep.plan.shards.size(), 3u);
  EXPECT_EQ(sweep.command, request_.command);
  ASSERT_THAT(sweep.jobs, SizeIs(1));
  EXPECT_EQ(sweep.jobs[0].id, "1");
  EXPECT_THAT(sweep.jobs[0].shards, ElementsAre(1, 2, 3));
  EXPECT_THAT(baselines::read_file(sweep.script()), HasSubstr("/opt/fusegate run --plan "));
}

TEST_F(SubmittingTest, SubmitsAgainOnlyWhatIsNeitherFinishedNorInTheQueue) {
  submit();
  measure(1, 2);
  measure(2, 1);
  slurm_.prints("squeue", queue_line("1_1", "COMPLETED") + queue_line("1_2", "TIMEOUT", "n1") +
                              queue_line("1_3", "PENDING"));
  submit();
  EXPECT_THAT(arrays(), ElementsAre("1-3", "2"));
  slurm_.prints("squeue", queue_line("1_3", "RUNNING") + queue_line("2_2", "RUNNING"));
  out_.str("");
  submit();
  EXPECT_THAT(arrays(), SizeIs(2));
  EXPECT_EQ(out_.str(),
            "nothing to submit: 1 of 3 shards finished, 2 running; 3 processes measured\n");
  EXPECT_THAT(read_sweep(request_.folder).jobs, SizeIs(2));
}

TEST_F(SubmittingTest, AShardWhoseProcessWasCutOffIsMeasuredAgain) {
  submit();
  for (const int shard : {1, 2}) measure(shard, 2);
  measure(3, 1, true);
  submit();
  EXPECT_THAT(arrays(), ElementsAre("1-3", "3"));
}

TEST_F(SubmittingTest, RefusesAnotherPlanAndAnotherCommand) {
  submit();
  request_.command.emplace_back("--all");
  EXPECT_THAT(problem(), AllOf(HasSubstr("slurm.json: command: is \"run --processes 2\", and now "),
                               HasSubstr("name another --out folder")));
  request_.command.pop_back();
  ShardPlan other = plan();
  other.shards.pop_back();
  request_.plan = folder_.write("other.json", plan_text(other));
  EXPECT_THAT(problem(), HasSubstr("sweep/plan.json: is another plan than "));
  EXPECT_THAT(arrays(), SizeIs(1));
}

TEST_F(SubmittingTest, RefusesAFolderWithAShardOfAnotherPlan) {
  submit();
  measure(1, 2);
  fs::rename(request_.folder / "shard-1", request_.folder / "shard-2");
  EXPECT_THAT(problem(), HasSubstr("shard-2/run.json: shard: is not shard 2 of "));
}

TEST_F(SubmittingTest, ARefusedJobLosesNothing) {
  submit();
  const std::string before = baselines::read_file(request_.folder / "slurm.json");
  slurm_.fails("sbatch", "sbatch: error: invalid partition specified: gpu");
  request_.options.partition = "gpu";
  EXPECT_THAT(problem(), HasSubstr("sbatch: --partition gpu: refuses the job"));
  EXPECT_EQ(baselines::read_file(request_.folder / "slurm.json"), before);
  slurm_.fails("squeue", "Unable to contact slurm controller");
  EXPECT_THAT(problem(), HasSubstr("has jobs that may still run, and Slurm cannot be asked"));
}

TEST_F(SubmittingTest, SaysWhereSlurmIsNotInstalled) {
  setenv("PATH", (folder_.path() / "slurm-bin").c_str(), 1);  // no other one is found
  slurm_.is_not_installed("sbatch");
  EXPECT_THAT(problem(), HasSubstr("sbatch: cannot be started: No such file or directory: is Slurm "
                                   "installed on this machine?"));
}

TEST(CheckTaskCommand, RefusesWhatIsSetForEachTask) {
  const auto problem = [](const std::vector<std::string>& command) {
    try {
      check_task_command(command);
    } catch (const baselines::InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(problem({"duet", "--base", "a", "--", "--out", "x"}), "none");
  EXPECT_THAT(problem({}), HasSubstr("name what each task runs behind --: run, duet or replay"));
  EXPECT_THAT(problem({"gate"}), HasSubstr("run, duet or replay"));
  EXPECT_THAT(problem({"run", "--shard=3"}), HasSubstr("slurm submit: --shard: is set for each"));
  EXPECT_THAT(problem({"run", "--out", "x"}), HasSubstr("--out: is set for each task"));
}

}  // namespace
}  // namespace fusegate::ci
