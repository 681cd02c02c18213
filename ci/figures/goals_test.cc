#include "ci/figures/goals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kSmall = "geglu_mlp/bf16/batch:1/seq:1/dim:768/hidden:3072";
constexpr const char* kLarge = "geglu_mlp/bf16/batch:64/seq:128/dim:768/hidden:3072";

class GoalsTest : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text) const {
    const std::filesystem::path path = folder_.write("goals.json", text);
    try {
      read_goals(path);
    } catch (const baselines::InputError& error) {
      return std::string(error.what()).substr(path.string().size());
    }
    return "";
  }

  baselines::ScratchFolder folder_;
};

baselines::BenchmarkName problem(std::int64_t batch, std::int64_t seq) {
  return {
      "geglu_mlp", "", "bf16", {{"batch", batch}, {"seq", seq}, {"dim", 768}, {"hidden", 3072}}};
}

TEST_F(GoalsTest, AreOfProblems) {
  const std::vector<Goal> goals =
      read_goals(folder_.write("goals.json", std::string(R"({"goals": {")") + kSmall +
                                                 R"(": 0.45, ")" + kLarge + R"(": 0.98}})"));
  ASSERT_EQ(goals.size(), 2u);
  EXPECT_EQ(goals[0].problem, problem(1, 1));
  EXPECT_EQ(goals[0].ratio, 0.45);
  EXPECT_EQ(goals[1].problem, problem(64, 128));
  EXPECT_EQ(goals[1].ratio, 0.98);
}

TEST_F(GoalsTest, SayWhatIsWrongInWhichField) {
  EXPECT_THAT(refusal(R"({"goals": )"), StartsWith(": goals: no valid JSON: line 1, column 11: "));
  EXPECT_EQ(refusal("{}"), ": goals: is missing");
  EXPECT_EQ(refusal(R"({"goals": [1]})"), ": goals: must be an object");
  EXPECT_EQ(refusal(R"({"goals": {}})"), ": goals: must name a problem at least");
  EXPECT_EQ(refusal(R"({"aims": {}, "goals": {}})"), ": aims: is unknown; there is goals");
  const std::string unnamed = "is of no problem, which is named operation/dtype/axis:size/...";
  for (const std::string name :
       {"geglu_mlp", "geglu_mlp/bf16", "geglu_mlp/fused/bf16/batch:1", ""}) {
    EXPECT_EQ(refusal(R"({"goals": {")" + name + R"(": 1}})"), ": goals." + name + ": " + unnamed);
  }
  for (const auto& [ratio, problem] : {std::pair{"0", "must be positive, but is 0"},
                                       {"-1", "must be positive, but is -1"},
                                       {"\"0.5\"", "must be a number"},
                                       {"null", "must be a number"}}) {
    EXPECT_EQ(refusal(std::string(R"({"goals": {")") + kSmall + "\": " + ratio + "}}"),
              std::string(": goals.") + kSmall + ": " + problem);
  }
}

TEST_F(GoalsTest, ThoseOfTheLaddersPageAreRead) {
  EXPECT_EQ(read_goals(std::string(FUSEGATE_SOURCE) + "/docs/ladder-goals.json").size(), 11u);
}

TEST(SetGoals, NamesThoseThatWereNotMeasured) {
  Standings standings;
  standings.operations = {{"geglu_mlp", "bf16", {}, {}, {{problem(64, 128), {}, {}}}}};
  const Goal large{problem(64, 128), 0.98};
  set_goals({large}, standings);
  EXPECT_EQ(standings.operations[0].problems[0].goal, 0.98);
  EXPECT_THAT(standings.notes, IsEmpty());
  Goal other = large;
  other.problem.dtype = "fp16";
  set_goals({{problem(1, 1), 0.45}, large, other}, standings);
  EXPECT_THAT(standings.notes,
              ElementsAre("warning: there are goals of problems that were not measured: "
                          "geglu_mlp, bf16, batch 1, seq 1, dim 768, hidden 3072; geglu_mlp, fp16, "
                          "batch 64, seq 128, dim 768, hidden 3072"));
}

}  // namespace
}  // namespace fusegate::ci
