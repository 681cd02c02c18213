#include "kernels/cuda/lt_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fusegate {
namespace {

using testing::ElementsAre;

std::size_t taken(const std::vector<std::vector<double>>& times) {
  return close_to_fastest(times, kTie).at(0);
}

TEST(LtChoice, TakesTheFastest) { EXPECT_EQ(taken({{10}, {9}, {8}, {9.5}}), 2u); }

TEST(LtChoice, KeepsTheHeuristicsFirstUnlessAnotherIsFasterByMoreThanATie) {
  EXPECT_EQ(taken({{10.09}, {10}}), 0u);
  EXPECT_EQ(taken({{10.11}, {10}}), 1u);
}

TEST(LtChoice, TakesTheSameOfEqualsWhicheverNoisePutsAhead) {
  EXPECT_EQ(taken({{10}, {9.01}, {9}, {8.99}}), 1u);
  EXPECT_EQ(taken({{10}, {8.99}, {9}, {9.01}}), 1u);
}

TEST(LtChoice, GoesByMediansAndNotByTheLuckiestRound) {
  EXPECT_EQ(taken({{10, 10, 10}, {11, 11, 2}}), 0u);
  EXPECT_EQ(taken({{10, 10, 10}, {9, 9, 200}}), 1u);
}

TEST(LtChoice, KeepsOrderWhereItSortsOutTheHopeless) {
  EXPECT_THAT(close_to_fastest({{12}, {10.5}, {13}, {10}, {10.9}}, kHopeless),
              ElementsAre(1, 3, 4));
  EXPECT_THAT(close_to_fastest({}, kHopeless), ElementsAre());
}

TEST(LtProblem, IsAnotherWhereAnythingDiffersThatTheAlgorithmDependsOn) {
  const LtProblem one{.m = 128, .n = 3072, .k = 768, .workspace_bytes = 1 << 20};
  std::set<LtProblem> problems{one, one};
  EXPECT_EQ(problems.size(), 1u);
  const auto add = [&](auto change) {
    LtProblem other = one;
    change(other);
    problems.insert(other);
  };
  add([](LtProblem& p) { p.m = 129; });
  add([](LtProblem& p) { p.n = 768; });
  add([](LtProblem& p) { p.k = 3072; });
  add([](LtProblem& p) { p.type = CUDA_R_16F; });
  add([](LtProblem& p) { p.compute = CUBLAS_COMPUTE_64F; });
  add([](LtProblem& p) { p.bias = true; });
  add([](LtProblem& p) { p.workspace_bytes = 0; });
  add([](LtProblem& p) { p.rivals = {"another kernel"}; });
  EXPECT_EQ(problems.size(), 9u);
}

}  // namespace
}  // namespace fusegate
