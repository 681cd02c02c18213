#include "baselines/io/message_names.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

TEST(EditDistance, CountsInsertedDeletedAndReplacedCharacters) {
  EXPECT_EQ(edit_distance("gate", "gate"), 0U);
  EXPECT_EQ(edit_distance("gait", "gate"), 2U);
  EXPECT_EQ(edit_distance("--candiate", "--candidate"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestName, IsNamedWhereItIsNear) {
  const std::vector<std::string> names{"--candidate", "--baseline", "--strict"};
  EXPECT_EQ(nearest_name("--candiate", names), "--candidate");
  EXPECT_EQ(nearest_name("--base-line", names), "--baseline");
  EXPECT_EQ(nearest_name("--verbose", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'a'), {std::string(99'999, 'a')}), "");
}

TEST(MistypedText, SaysWhatTheWordIsNot) {
  EXPECT_EQ(mistyped_text("gat", "command", {"run", "gate"}),
            "\"gat\" is not a command; the nearest is gate");
  EXPECT_EQ(mistyped_text("walk", "command", {"run", "gate"}), "\"walk\" is not a command");
}

TEST(FirstOf, NamesAtMostSoMany) {
  EXPECT_EQ(first_of({}), "");
  EXPECT_EQ(first_of({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(first_of({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
  EXPECT_EQ(first_of({"a", "b"}, "; "), "a; b");
  EXPECT_EQ(first_of({"a", "b"}, ", ", 1), "a and 1 more");
}

}  // namespace
}  // namespace fusegate::baselines
