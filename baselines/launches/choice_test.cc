#include "baselines/launches/choice.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(Choice, IsKnownByItsNameHoweverItWasFound) {
  EXPECT_EQ(choice_name("tuned: candidate 3 of 8, algo 66, tile 18"), "algo 66, tile 18");
  EXPECT_EQ(choice_name("measured: candidate 12 of 19, gemv: 192 blocks, 4 columns"),
            "gemv: 192 blocks, 4 columns");
  EXPECT_EQ(choice_name("algo 66, tile 18"), "algo 66, tile 18") << "of a rule";
  EXPECT_EQ(choice_name("tuned: candidate 3"), "tuned: candidate 3");
  EXPECT_EQ(choice_name(""), "");
}

TEST(Choice, ChangesWithTheKernelAlone) {
  const auto changes =
      choice_changes({{"gate", "tuned: candidate 3 of 8, algo 66"}, {"down", "algo 1"}},
                     {{"gate", "pinned: candidate 1 of 8, algo 66"}, {"up", "algo 1"}});
  EXPECT_TRUE(changes.empty());
  const auto other = choice_changes({{"down", "algo 1"}}, {{"down", "algo 2"}});
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].before, "algo 1");
  EXPECT_EQ(other[0].after, "algo 2");
}

TEST(Choice, IsMeasuredWhereItHasARank) {
  EXPECT_TRUE(is_autotuned("tuned: candidate 3 of 8, algo 66"));
  EXPECT_FALSE(is_autotuned("algo 66"));
}

}  // namespace
}  // namespace fusegate::baselines
