#include "ci/shards/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "ci/shards/measured_shard.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTwoShards = R"({"fusegate_plan": 1, "suite": "pr", "controls": ["c"],
    "shards": [{"expected_s": 2.5, "benchmarks": ["b", "a"]}, {"benchmarks": ["d"]}]})";

std::string problem_of_plan(const std::string& text) try {
  parse_plan(text, "plan.json");
  return "none";
} catch (const baselines::InputError& error) {
  return error.what();
}

TEST(PlanTest, IsReadAsItIsWritten) {
  const ShardPlan plan = parse_plan(kTwoShards, "plan.json");
  EXPECT_EQ(plan.suite, "pr");
  EXPECT_THAT(plan.shards[0].benchmarks, ElementsAre("a", "b"));
  EXPECT_EQ(plan.shards[0].expected_s, 2.5);
  const std::string text = plan_text(plan);
  EXPECT_EQ(plan_text(parse_plan(text, "again")), text);
}

TEST(PlanTest, NamesWhatIsWrong) {
  EXPECT_THAT(problem_of_plan("[]"), HasSubstr("plan.json: fusegate_plan: is missing"));
  EXPECT_THAT(problem_of_plan("{}"), HasSubstr("name a file that fusegate plan wrote"));
  EXPECT_THAT(problem_of_plan(R"({"fusegate_plan": 2})"), HasSubstr("expected 1"));
  const auto with_shards = [](const std::string& shards) {
    return R"({"fusegate_plan": 1, "suite": "pr", "controls": ["c"], "shards": )" + shards + "}";
  };
  EXPECT_THAT(problem_of_plan(with_shards("[]")), HasSubstr("shards: must not be empty"));
  EXPECT_THAT(problem_of_plan(with_shards(R"([{"benchmarks": []}])")),
              HasSubstr("shards[0].benchmarks: must not be empty"));
  EXPECT_THAT(problem_of_plan(with_shards(R"([{"benchmarks": ["c"]}])")),
              HasSubstr("\"c\" is planned twice: controls has it too"));
  EXPECT_THAT(problem_of_plan(with_shards(R"([{"benchmarks": ["a"]}, {"benchmarks": ["a"]}])")),
              HasSubstr("shards[1].benchmarks[0]: \"a\" is planned twice: shard 1 has it too"));
  EXPECT_THAT(problem_of_plan(with_shards(R"([{"benchmarks": ["a"], "expected_s": -1}])")),
              HasSubstr("shards[0].expected_s"));
}

TEST(PlanTest, AShardHasItsBenchmarksAndAllControls) {
  const ShardPlan plan = parse_plan(kTwoShards, "plan.json");
  const ShardRecord shard = shard_of(plan, 2);
  EXPECT_EQ(shard.number, 2);
  EXPECT_EQ(shard.of, 2);
  EXPECT_THAT(shard.benchmarks, ElementsAre("d"));
  EXPECT_THAT(shard.controls, ElementsAre("c"));
  EXPECT_EQ(shard.plan, shard_of(plan, 1).plan);
  ShardPlan other = plan;
  std::swap(other.shards[0], other.shards[1]);
  EXPECT_NE(shard.plan, shard_of(other, 1).plan);
  EXPECT_THAT(filter_of(shard), HasSubstr("^(d|c)"));
}

class AskedShardTest : public ::testing::Test {
 protected:
  std::optional<ShardRecord> read(int number, std::string suite = "") {
    return read_shard({.plan = folder_.write("plan.json", kTwoShards), .number = number}, suite);
  }
  std::string problem(int number, const std::string& suite = "") try {
    read(number, suite);
    return "none";
  } catch (const baselines::InputError& error) {
    return error.what();
  }

  baselines::ScratchFolder folder_;
};

TEST_F(AskedShardTest, NamesTheSuite) {
  std::string suite;
  EXPECT_FALSE(read_shard({}, suite)) << "no plan";
  read_shard({.plan = folder_.write("plan.json", kTwoShards), .number = 1}, suite);
  EXPECT_EQ(suite, "pr");
  EXPECT_EQ(read(2, "pr")->number, 2);
}

TEST_F(AskedShardTest, RefusesWhatThePlanDoesNotHave) {
  EXPECT_THAT(problem(3), HasSubstr("--shard: 3: "));
  EXPECT_THAT(problem(3), HasSubstr("has the shards 1 to 2"));
  EXPECT_THAT(problem(1, "smoke"), HasSubstr("suite: is \"pr\", and --suite is \"smoke\""));
}

}  // namespace
}  // namespace fusegate::ci
