#include "baselines/io/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace fusegate::baselines {
namespace {

TEST(Pattern, IsSearchedForInTheName) {
  const Pattern pattern("gemm|^nvjet");
  EXPECT_TRUE(pattern.fits("sm80_xmma_gemm_bf16"));
  EXPECT_TRUE(pattern.fits("nvjet_tst"));
  EXPECT_FALSE(pattern.fits("a_nvjet_tst"));
  EXPECT_TRUE(Pattern("").fits("any"));
}

TEST(Pattern, IsOfBytes) {
  EXPECT_TRUE(Pattern("^a.b$").fits("a\nb"));
  EXPECT_TRUE(Pattern("^.a$").fits("\377a"));
  EXPECT_TRUE(Pattern("^\xff$").fits("\xff"));
  EXPECT_TRUE(Pattern("\u00b5s").fits("in \u00b5s"));
}

TEST(Pattern, SaysWhyItIsNoRegularExpression) {
  for (const auto& [text, why] :
       {std::pair<std::string, std::string>{"(", "missing ): ("},
        {"(a)\\1", "invalid escape sequence: \\1"},
        {"x{1000}{1000}", "bad repetition operator: {1000}{1000}"},
        {"((a{1,255}){1,255}){1,255}", "invalid repetition size: {1,255}"},
        {std::string(30'000, '('), "missing ): " + std::string(30'000, '(')}}) {
    EXPECT_THAT([&] { const Pattern pattern(text); },
                testing::ThrowsMessage<std::invalid_argument>(
                    "\"" + text + "\" is not a regular expression: " + why));
  }
}

TEST(Pattern, RefusesWhatIsTooLarge) {
  const auto repeated = [](const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
  };
  for (const auto& [unit, most] :
       {std::pair<std::string, std::size_t>{"a", 1 << 17}, {"a?", 1000}, {"a{0,9}", 20}}) {
    EXPECT_EQ(Pattern(repeated(unit, most)).fits("a"), unit != "a") << unit;
    EXPECT_THAT([&] { const Pattern pattern(repeated(unit, most + 1)); },
                testing::ThrowsMessage<std::invalid_argument>(testing::EndsWith(
                    "...\" is too large: at most 128 KiB and 1000 repetitions are possible, 20 of "
                    "them counted")));
  }
}

TEST(Pattern, TakesAsManyNamesAsAnArgumentHolds) {
  std::string names = "^(";
  while (names.size() < (1 << 17) - 40) names += "mlp/fused/bf16/m:128/n:4096|";
  const Pattern pattern(names + "last)$");
  EXPECT_TRUE(pattern.fits("last"));
  EXPECT_TRUE(pattern.fits("mlp/fused/bf16/m:128/n:4096"));
  EXPECT_FALSE(pattern.fits("mlp/fused/bf16/m:128/n:4097"));
}

TEST(Pattern, TakesTimeInProportion) {
  // What remembers one way after another takes the age of the universe for the first, and what
  // keeps each set of ways that it meets takes 2^20 of them for the second.
  const std::string name(100'000, 'a');
  EXPECT_FALSE(Pattern("(a*)*b").fits(name));
  EXPECT_FALSE(Pattern("(a|b)*a(a|b){20}c").fits(name));
}

}  // namespace
}  // namespace fusegate::baselines
