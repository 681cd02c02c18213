#include "baselines/io/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <array>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

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
              testing::ThrowsMessage<std::invalid_argument>("\"(\" is not a regular expression"));
}

TEST(Pattern, RefusesWhatIsTooLargeOrTooDeep) {
  for (const std::string& text :
       {std::string(30'000, '('), std::string(30'000, '(') + std::string(30'000, ')'),
        std::string("((a{1,255}){1,255}){1,255}"), std::string("x{1000}{1000}")}) {
    EXPECT_THAT([&] { const Pattern pattern(text); },
                testing::ThrowsMessage<std::invalid_argument>(testing::EndsWith("is too large")));
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

// Nothing where it is none.
std::optional<bool> fits_by_regcomp(const std::string& pattern, const std::string& name) {
  regex_t compiled{};
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return std::nullopt;
  const bool fits = regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return fits;
}

std::optional<bool> fits_by_ours(const std::string& pattern, const std::string& name) try {
  return Pattern(pattern).fits(name);
} catch (const std::invalid_argument&) {
  return std::nullopt;
}

TEST(Pattern, AgreesWithRegcomp) {
  constexpr std::array<const char*, 41> kParts{
      "a",           "b",  "ab",  "(a|b)", "a{2}", "a{1,2}",  "[^a]",     "[a-c]",
      "[[:alpha:]]", "^",  "$",   ".",     "|",    "*",       "+",        "?",
      "(",           ")",  "\\w", "\\b",   "\\<",  "b*",      "(ab)+",    "{,2}",
      "\\.",         "()", "\\W", "a**",   "[]a]", "]",       "\\>",      "{2,}",
      "{",           "}",  "[",   "-",     "1",    "[[.a.]]", "[[=b=]c]", "[[:digit:]_]",
      "\\"};
  std::mt19937 random(3);
  const auto joined = [&](std::size_t most, const auto& choices) {
    std::string text;
    for (std::size_t parts = random() % most; parts > 0; --parts) {
      text += choices[random() % choices.size()];
    }
    return text;
  };
  std::size_t fitting = 0;
  for (int round = 0; round < 2'500; ++round) {
    const std::string pattern = joined(8, kParts);
    const std::string name = joined(7, std::string("aabbc_. -]1"));
    const auto fits = fits_by_ours(pattern, name);
    // "\\1" refers back.
    if (pattern.find("\\1") != pattern.npos) continue;
    ASSERT_EQ(fits, fits_by_regcomp(pattern, name)) << pattern << " in " << name;
    fitting += fits.value_or(false) ? 1 : 0;
  }
  EXPECT_GT(fitting, 250U);
  EXPECT_EQ(fits_by_ours("(a)\\1", "aa"), std::nullopt);
}

}  // namespace
}  // namespace fusegate::baselines
