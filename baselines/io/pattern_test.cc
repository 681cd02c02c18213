#include "baselines/io/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace fusegate::baselines {
namespace {

TEST(Pattern, IsSearchedForInTheName) {
  const Pattern pattern("gemm|^nvjet");
  EXPECT_TRUE(pattern.fits("sm80_xmma_gemm_bf16"));
  EXPECT_TRUE(pattern.fits("nvjet_tst"));
  EXPECT_FALSE(pattern.fits("a_nvjet_tst"));
  EXPECT_TRUE(Pattern("").fits("any"));
}

TEST(Pattern, RefusesWhatIsNoRegularExpression) {
  EXPECT_THAT([] { Pattern("("); },
              testing::ThrowsMessage<std::invalid_argument>("\"(\" is no regular expression"));
}

}  // namespace
}  // namespace fusegate::baselines
