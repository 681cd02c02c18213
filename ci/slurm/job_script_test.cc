#include "ci/slurm/job_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

SlurmSweep sweep() {
  return {.folder = "/data/my sweep",
          .plan = {.suite = "suites/pr.json", .shards = {{.benchmarks = {"a"}}}},
          .command = {"run", "--program", "my bench", "--", "--samples", "3"},
          .from = "/home/me"};
}

std::string problem(const JobOptions& options) {
  try {
    job_script(sweep(), options, "fusegate");
  } catch (const baselines::InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(JobScript, IsReadable) {
  const JobOptions options{.partition = "gpu", .time = "1:00:00", .others = {"--gres=gpu:1"}};
  EXPECT_EQ(job_script(sweep(), options, "/usr/bin/fusegate"),
            R"(#!/bin/sh
# Written by fusegate slurm submit. A task measures one shard of plan.json.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --job-name=fusegate-pr
#SBATCH --output="/data/my sweep/shard-%a.log"
#SBATCH --chdir=/home/me
#SBATCH --partition=gpu
#SBATCH --time=1:00:00
#SBATCH --gres=gpu:1

/usr/bin/fusegate run --plan '/data/my sweep/plan.json' --shard "$SLURM_ARRAY_TASK_ID" --resume \
  --out '/data/my sweep'/shard-"$SLURM_ARRAY_TASK_ID" --program 'my bench' -- --samples 3
code=$?
# 1: a regression in this shard. What is judged are all shards together.
[ $code -ne 1 ] || code=0
exit $code
)");
}

TEST(JobScript, AFolderIsNoPatternOfSlurms) {
  SlurmSweep odd = sweep();
  odd.folder = "/data/100%a";
  EXPECT_THAT(job_script(odd, {}, "fusegate"), HasSubstr("--output=/data/100%%a/shard-%a.log\n"));
}

TEST(JobScript, RefusesWhatIsNotOneLineOfFlags) {
  EXPECT_THAT(problem({.others = {"gpu:1"}}),
              HasSubstr("--sbatch: gpu:1: must be flags of sbatch"));
  EXPECT_THAT(problem({.others = {"--x\nrm y"}}), HasSubstr("on one line"));
  EXPECT_THAT(problem({.others = {"--array=1-9"}}), HasSubstr("is fusegate's to say"));
  EXPECT_THAT(problem({.account = "a\nb"}), HasSubstr("--account: must not have line ends"));
}

TEST(RangesText, NamesEachNumberOnce) {
  EXPECT_EQ(ranges_text({1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
  EXPECT_EQ(ranges_text({4}), "4");
  EXPECT_EQ(ranges_text({}), "");
}

}  // namespace
}  // namespace fusegate::ci
