#include "ci/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fusegate {
namespace {

std::vector<int> arms_of(const std::vector<PlannedInvocation>& plan) {
  std::vector<int> arms;
  for (const auto& planned : plan) arms.push_back(planned.arm);
  return arms;
}

TEST(Interleave, ReversesEverySecondRound) {
  EXPECT_THAT(arms_of(interleave(2, 3, 1)), ::testing::ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(arms_of(interleave(3, 2, 1)), ::testing::ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_THAT(arms_of(interleave(1, 3, 1)), ::testing::ElementsAre(0, 0, 0));
}

TEST(Interleave, DrawsSeedsThatDifferAndFitIn31Bits) {
  std::set<std::uint64_t> seeds;
  for (const auto& planned : interleave(2, 500, 7)) {
    EXPECT_LT(planned.seed, std::uint64_t{1} << 31);
    seeds.insert(planned.seed);
  }
  EXPECT_EQ(seeds.size(), 1000u);
}

TEST(Interleave, IsTheSameForTheSameSeedAlone) {
  EXPECT_EQ(interleave(2, 2, 7)[3].seed, interleave(2, 2, 7)[3].seed);
  EXPECT_NE(interleave(2, 2, 7)[3].seed, interleave(2, 2, 8)[3].seed);
}

}  // namespace
}  // namespace fusegate
