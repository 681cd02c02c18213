#include "baselines/io/json_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

const json kValue = {{"a", {{"b", {1, 2.5, -3}}}}, {"text", "t"}, {"yes", true}, {"none", nullptr}};
const JsonField kRoot(kValue, "f.json", "");

TEST(JsonField, ReadsWhatIsThere) {
  const auto elements = kRoot.at("a").at("b").elements();
  ASSERT_EQ(elements.size(), 3u);
  EXPECT_EQ(elements[0].integer(), 1);
  EXPECT_EQ(elements[1].number(), 2.5);
  EXPECT_EQ(kRoot.at("text").text(), "t");
  EXPECT_TRUE(kRoot.at("yes").boolean());
  EXPECT_EQ(kRoot.text_or_empty("text"), "t");
  EXPECT_EQ(kRoot.at("a").members().at(0).first, "b");
}

TEST(JsonField, AbsentAndNullAreNotThere) {
  EXPECT_FALSE(kRoot.find("absent").has_value());
  EXPECT_FALSE(kRoot.find("none").has_value());
  EXPECT_EQ(kRoot.text_or_empty("absent"), "");
  EXPECT_THAT([] { kRoot.at("a").at("absent"); },
              ThrowsMessage<InputError>("f.json: a.absent: is missing"));
}

TEST(JsonField, NamesThePathOfAWrongType) {
  EXPECT_THAT([] { kRoot.at("text").number(); },
              ThrowsMessage<InputError>("f.json: text: must be a number"));
  EXPECT_THAT([] { kRoot.at("a").at("b").elements()[1].integer(); },
              ThrowsMessage<InputError>("f.json: a.b[1]: must be an integer"));
  EXPECT_THAT([] { kRoot.at("a").at("b").elements()[2].positive_number(); },
              ThrowsMessage<InputError>("f.json: a.b[2]: must be positive, but is -3"));
  EXPECT_THAT([] { kRoot.at("a").at("b").elements()[2].number_from_zero(); },
              ThrowsMessage<InputError>("f.json: a.b[2]: must not be negative, but is -3"));
  const json huge = 1e18;
  EXPECT_THROW(JsonField(huge, "f.json", "").integer(), InputError);
  const json wide = 4'000'000'000;
  EXPECT_THROW(JsonField(wide, "f.json", "").integer(), InputError);
  EXPECT_THROW(kRoot.at("text").boolean(), InputError);
  EXPECT_THROW(kRoot.at("yes").text(), InputError);
  EXPECT_THROW(kRoot.at("text").elements(), InputError);
  EXPECT_THROW(kRoot.at("text").members(), InputError);
  EXPECT_THROW(kRoot.at("text").find("x"), InputError);
}

TEST(ParseJson, SaysWhereTheTextBreaks) {
  EXPECT_EQ(parse_json("[1]", "f.json"), json::array({1}));
  EXPECT_THAT(
      [] { parse_json("[1,\n", "f.json"); },
      ThrowsMessage<InputError>(HasSubstr("f.json: [1]: not valid JSON: line 2, column 1: ")));
  EXPECT_THAT([] { parse_json(" \n", "f.json"); },
              ThrowsMessage<InputError>("f.json: the file is empty"));
}

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "f.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string nested(std::size_t levels) {
  return "{\"a\": [1, " + std::string(levels - 2, '[') + std::string(levels - 2, ']') + "]}";
}

TEST(ParseJson, RefusesWhatIsTooDeepForTheStack) {
  EXPECT_EQ(refusal(nested(kDeepestTree)), "");
  EXPECT_THAT(refusal(nested(kDeepestTree + 1)),
              testing::AllOf(testing::StartsWith("f.json: a[1][0]"),
                             testing::EndsWith(": is nested more than 200 levels deep")));
  EXPECT_THAT(refusal(nested(1'000'000)), HasSubstr("is nested more than 200 levels deep"));
  // Brackets in a string open nothing.
  EXPECT_EQ(refusal("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]"), "");
}

TEST(ParseJson, RefusesMoreValuesThanATreeMayHold) {
  std::string text = "[0";
  for (std::size_t i = 0; i < kMostValuesOfTree; ++i) text += ",0";
  EXPECT_EQ(refusal(text + ']'), "f.json: has more than 10000000 values");
}

TEST(JsonField, RepeatsNoLongKeyInThePathOfEachMember) {
  const json value = {{std::string(1'000'000, 'k'), {{"a", 1}}}};
  const JsonField root(value, "f.json", "");
  EXPECT_THAT([&] { root.members()[0].second.at("a").text(); },
              ThrowsMessage<InputError>(testing::AllOf(testing::EndsWith("kkk.a: must be a string"),
                                                       testing::SizeIs(testing::Lt(150u)))));
}

}  // namespace
}  // namespace fusegate::baselines
