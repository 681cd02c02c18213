#include "ci/slurm/shard_states.h"

#include "ci/slurm/collecting.h"
#include "ci/slurm/slurm_test.h"

namespace fusegate::ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ShardStatesTest : public SlurmTest {
 protected:
  ShardStatesTest() { submit(); }

  bool status() {
    out_.str("");
    Console console{out_, err_};
    return print_status(request_.folder, console);
  }
  std::string collect() {
    out_.str("");
    Console console{out_, err_};
    return problem_of([&] { collect_shards(request_.folder, folder_.path() / "run", console); });
  }
};

TEST_F(ShardStatesTest, SaysOfEachShardHowFarItIs) {
  measure(1, 2);
  measure(2, 1);
  slurm_.prints("squeue", queue_line("1_1", "COMPLETED", "n1") +
                              queue_line("1_2", "RUNNING", "n2") +
                              queue_line("1_3", "PENDING", "", 0, "Resources"));
  EXPECT_TRUE(status());
  EXPECT_EQ(out_.str(),
            "shard  state               processes  task\n"
            "    1  finished               2 of 2  1_1\n"
            "    2  running on n2          1 of 2  1_2\n"
            "    3  pending: Resources          -  1_3\n"
            "\n1 of 3 shards finished, 1 running, 1 pending; 3 processes measured\n");
  EXPECT_THAT(collect(), AllOf(HasSubstr("sweep: shard 2: running on n2, shard 3: pending"),
                               HasSubstr("; collect once they have finished")));
}

TEST_F(ShardStatesTest, SaysWhatFailedAndWhatToDo) {
  measure(1, 2);
  measure(3, 1);
  folder_.write("sweep/shard-2.log", "fusegate: bench: no such file\n");
  slurm_.prints("squeue", queue_line("1_2", "FAILED", "n2", 512));
  slurm_.prints("sacct", "1_3|TIMEOUT|0:0|n1\n");
  EXPECT_FALSE(status());
  const std::string log = (request_.folder / "shard-2.log").string();
  EXPECT_THAT(out_.str(),
              HasSubstr("1 of 3 shards finished, 2 failed; 3 processes measured\n"
                        "shard 2: failed with exit code 2 (" +
                        log + ")\nshard 3: failed: TIMEOUT\nthe same fusegate slurm submit "));
  EXPECT_THAT(collect(), HasSubstr("the same fusegate slurm submit measures the rest"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run"));
}

TEST_F(ShardStatesTest, WithoutSlurmItGoesByTheFolder) {
  measure(1, 2);
  measure(2, 1);
  slurm_.fails("squeue", "Unable to contact slurm controller");
  EXPECT_FALSE(status());
  EXPECT_THAT(err_.str(), HasSubstr("warning: squeue: exit code 1: Unable to contact slurm "));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("stopped "), HasSubstr("not started")));
}

TEST_F(ShardStatesTest, CollectsWhatHasFinished) {
  for (const int shard : {1, 2, 3}) measure(shard, 2);
  EXPECT_TRUE(status());
  EXPECT_THAT(out_.str(), HasSubstr("merge them: fusegate slurm collect "));
  EXPECT_EQ(collect(), "none");
  EXPECT_THAT(out_.str(), HasSubstr("run: 4 benchmarks of 3 shards, 6 processes"));
}

TEST_F(ShardStatesTest, CollectsACutOffProcessAndSaysSo) {
  for (const int shard : {1, 2}) measure(shard, 2);
  measure(3, 1, true);
  EXPECT_FALSE(status());
  EXPECT_EQ(collect(), "none");
  EXPECT_THAT(err_.str(), HasSubstr("warning: shard 3: 1 process failed"));
}

}  // namespace
}  // namespace fusegate::ci
