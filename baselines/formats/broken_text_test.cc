#include "baselines/formats/broken_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

std::string quoted(std::string text) {
  const std::size_t size = text.size();
  EXPECT_TRUE(quote_nonfinite(text));
  EXPECT_EQ(text.size(), size);
  return text;
}

TEST(QuoteNonfinite, MakesStringsOfNumbersThatJsonHasNot) {
  EXPECT_EQ(quoted(R"({"a": NaN})"), R"({"a": "a"})");
  EXPECT_EQ(quoted(R"([-Infinity,1])"), R"(["Infinit",1])");
  EXPECT_EQ(quoted(R"([inf, -nan])"), R"(["n", "na"])");
}

TEST(QuoteNonfinite, LeavesStringsAlone) {
  for (const char* same :
       {R"({"NaN": "a \" NaN", "b": "\\"})", R"({"a": null, "b": -1})", "", "\"NaN"}) {
    std::string text = same;
    EXPECT_FALSE(quote_nonfinite(text)) << same;
    EXPECT_EQ(text, same);
  }
}

TEST(EndsEarly, OfEveryPartOfAText) {
  const std::string text = R"({"a": [1.5, "b\u00e9", true, null], "c": {"d": -2e3}})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_TRUE(ends_early(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(ends_early(text));
}

TEST(EndsEarly, NotWhereSomethingElseIsWrong) {
  for (const char* broken : {"{]", "{\"a\": tru}", "{} {", "[1,,", "[1 2", "x"}) {
    EXPECT_FALSE(ends_early(broken)) << broken;
  }
}

}  // namespace
}  // namespace fusegate::baselines
