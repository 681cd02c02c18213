#include "baselines/history/text_hash.h"

#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

// As the authors' page has them: cbf29ce484222325, af63dc4c8601ec8c, 85944171f73967e8.
TEST(ShortHash, IsThatOfItsAuthors) {
  EXPECT_EQ(short_hash(""), "cbf29ce48422");
  EXPECT_EQ(short_hash("a"), "af63dc4c8601");
  EXPECT_EQ(short_hash("foobar"), "85944171f739");
}

}  // namespace
}  // namespace fusegate::baselines
