#include "ci/slurm/tasks.h"

#include "ci/slurm/slurm_test.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As Slurm 22.05 prints them, and 23.11 the last one.
TEST(ParseSqueue, ReadsStatesNodesAndCodes) {
  const auto tasks = parse_squeue(
      "8|1|PENDING||0|BeginTime|\n"
      "8|2|FAILED|n3|512|NonZeroExitCode|\n"
      "8|3|FAILED|n1|9|JobLaunchFailure|\n"
      "8|4|RUNNING|n[1-2]|0|None|\n"
      "8|5|FAILED|n1|2:0|NonZeroExitCode|\n"
      "squeue: what is this\n");
  ASSERT_THAT(tasks, SizeIs(5));
  EXPECT_EQ(tasks.at("8_1").reason, "BeginTime");
  EXPECT_FALSE(tasks.at("8_1").has_started());
  EXPECT_EQ(tasks.at("8_2").exit_code, 2);
  EXPECT_TRUE(tasks.at("8_2").has_ended());
  EXPECT_EQ(tasks.at("8_3").signal, 9);
  EXPECT_EQ(tasks.at("8_5").exit_code, 2);
  EXPECT_EQ(tasks.at("8_4").node, "n[1-2]");
  EXPECT_TRUE(tasks.at("8_4").has_started());
  EXPECT_FALSE(tasks.at("8_4").has_ended());
}

TEST(ParseSacct, ReadsStatesNodesAndCodes) {
  const auto tasks = parse_sacct("8_1|CANCELLED by 1000|0:15|n1\n8_2|TIMEOUT|2:0|n2\n");
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks.at("8_1").state, "CANCELLED");
  EXPECT_EQ(tasks.at("8_1").signal, 15);
  EXPECT_EQ(tasks.at("8_2").exit_code, 2);
  EXPECT_EQ(tasks.at("8_2").node, "n2");
}

class TasksTest : public SlurmTest {
 protected:
  TasksTest() {
    sweep_.plan = plan();
    sweep_.folder = folder_.path() / "sweep";
    sweep_.jobs = {{"7", {1, 2, 3}, ""}, {"8", {2}, ""}};
  }
  SlurmSweep sweep_;
};

TEST_F(TasksTest, TheLastTaskOfAShardCounts) {
  slurm_.prints("squeue", queue_line("7_1", "RUNNING", "n1") +
                              queue_line("7_2", "FAILED", "n2", 512) +
                              queue_line("7_3", "COMPLETED") + queue_line("8_2", "PENDING"));
  const SlurmTasks tasks = tasks_of(sweep_);
  EXPECT_EQ(tasks.problem, "");
  EXPECT_EQ(tasks.of_shards.at(2).name, "8_2");
  EXPECT_EQ(tasks.of_shards.at(1).name, "7_1");
  EXPECT_THAT(slurm_.calls("squeue"), ElementsAre(HasSubstr("--jobs=7,8")));
  EXPECT_THAT(slurm_.calls("sacct"), IsEmpty());
}

TEST_F(TasksTest, WhatSqueueHasForgottenSacctKnows) {
  slurm_.prints("squeue", queue_line("8_2", "RUNNING"));
  slurm_.prints("sacct", "7_1|NODE_FAIL|0:0|n1\n8_2|PENDING|0:0|\n");
  const SlurmTasks tasks = tasks_of(sweep_);
  EXPECT_EQ(tasks.of_shards.at(1).state, "NODE_FAIL");
  EXPECT_EQ(tasks.of_shards.at(2).state, "RUNNING");
  EXPECT_FALSE(tasks.of_shards.contains(3));
}

TEST_F(TasksTest, WithoutAccountingAndAfterAllHasEndedNothingIsKnown) {
  slurm_.fails("squeue", "slurm_load_jobs error: Invalid job id specified");
  slurm_.fails("sacct", "Slurm accounting storage is disabled");
  EXPECT_EQ(tasks_of(sweep_).problem, "");
  EXPECT_THAT(tasks_of(sweep_).of_shards, IsEmpty());
}

TEST_F(TasksTest, SaysWhyNobodyAnswers) {
  slurm_.fails("squeue", "slurm_load_jobs error: Unable to contact slurm controller");
  EXPECT_THAT(tasks_of(sweep_).problem,
              HasSubstr("squeue: exit code 1: slurm_load_jobs error: Un"));
}

TEST_F(TasksTest, NamesTheOptionThatIsRefused) {
  const JobOptions options{.partition = "gpu", .account = "them"};
  const auto refusal = [&](const std::string& error) {
    slurm_.fails("sbatch", "sbatch: error: " + error);
    return problem_of([&] { submit_array(sweep_, {1}, options); });
  };
  EXPECT_THAT(
      refusal("Batch job submission failed: Invalid account or account/partition combination"),
      AllOf(HasSubstr("sbatch: --account them: refuses the job: "), HasSubstr("Invalid account")));
  EXPECT_THAT(refusal("invalid partition specified: gpu"), HasSubstr("sbatch: --partition gpu: "));
  EXPECT_THAT(refusal("Batch job submission failed: Unspecified error"),
              HasSubstr("sbatch: refuses the job: "));
  slurm_.prints("sbatch", "Submitted\n");
  EXPECT_THAT(problem_of([&] { submit_array(sweep_, {1}, options); }),
              HasSubstr("printed \"Submitted\", not a job's id"));
}

TEST_F(TasksTest, AClustersNameIsNoPartOfAnId) {
  slurm_.prints("sbatch", "42;east\n");
  EXPECT_EQ(submit_array(sweep_, {1, 2}, {}), "42");
  EXPECT_THAT(slurm_.calls("sbatch"),
              ElementsAre("--parsable --array=1-2 " + (folder_.path() / "sweep/job.sh").string()));
}

}  // namespace
}  // namespace fusegate::ci
