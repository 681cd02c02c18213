#include "baselines/io/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

Settings settings_in(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return read_settings(JsonField(json, "suite.json", ""), "benchmarks");
}

TEST(SettingsTest, TheMostSpecialPatternThatSetsAKeyCounts) {
  const Settings settings = settings_in(R"({"benchmarks": {
      ".": {"owner": "@ann", "weight": 2, "allow": 0.05},
      "^geglu": {"owner": "@org/team-mlp", "min_effect": 0.01},
      "^geglu/fused/": {"min_effect": 0.02}}})");
  EXPECT_EQ(settings_of(settings, "linear/addmm/fp32/batch:1"),
            (BenchmarkSettings{.owner = "@ann", .allow = 0.05, .weight = 2.0}));
  EXPECT_EQ(settings_of(settings, "geglu/fused/fp32/batch:1"),
            (BenchmarkSettings{
                .owner = "@org/team-mlp", .min_effect = 0.02, .allow = 0.05, .weight = 2.0}));
  EXPECT_EQ(settings_of({{"^geglu/", {.weight = 3}}}, "linear/addmm/fp32"), BenchmarkSettings{});
}

TEST(SettingsTest, OwnersOfBeforeAreRead) {
  const Settings settings = settings_in(
      R"({"owners": {"^a": "@ann", "^ab": "@bob"}, "benchmarks": {"^a": {"weight": 3}}})");
  EXPECT_EQ(settings_of(settings, "ab"), (BenchmarkSettings{.owner = "@bob", .weight = 3.0}));
  EXPECT_EQ(settings_of(settings, "ac"), (BenchmarkSettings{.owner = "@ann", .weight = 3.0}));
}

TEST(SettingsTest, WhatIsWrittenIsReadAgain) {
  const std::string text = R"({"benchmarks": {
      "a": {"allow": 0.1, "min_effect": 0.05, "owner": "@ann", "weight": 2.5}, "b": {"weight": 1.0}}})";
  EXPECT_EQ(settings_json(settings_in(text)), nlohmann::json::parse(text).at("benchmarks"));
}

TEST(SettingsTest, WhatCannotBeSetIsRefusedByItsField) {
  for (const auto& [text, problem] : {
           std::pair(R"("owners": {"(": "@ann"})", "owners.(: "),
           std::pair(R"("owners": {"": "@ann"})", "owners: has an empty pattern"),
           std::pair(R"("owners": {"a": "ann"})", "owners.a: must be \"@user\""),
           std::pair(R"("owners": {"a": "@ann [x]"})", "owners.a: must be \"@user\""),
           std::pair(R"("owners": {"a": "@ann\n@bob"})", "owners.a: must be \"@user\""),
           std::pair(R"("owners": {"a": 1})", "owners.a: must be a string"),
           std::pair(R"("benchmarks": 1)", "benchmarks: must be an object"),
           std::pair(R"("benchmarks": {"(": {"weight": 1}})", "benchmarks.(: "),
           std::pair(R"("benchmarks": {"": {"weight": 1}})", "benchmarks: has an empty pattern"),
           std::pair(R"("benchmarks": {"a": "@ann"})", "benchmarks.a: must be an object"),
           std::pair(R"("benchmarks": {"a": {}})", "benchmarks.a: must have at least one of"),
           std::pair(R"("benchmarks": {"a": {"odd": 1}})", "benchmarks.a.odd: unknown key"),
           std::pair(R"("benchmarks": {"a": {"owner": "x"}})", "a.owner: must be \"@user\""),
           std::pair(R"("benchmarks": {"a": {"min_effect": 1}})", "a.min_effect: must be a number"),
           std::pair(R"("benchmarks": {"a": {"weight": 0}})", "benchmarks.a.weight: must be"),
           std::pair(R"("benchmarks": {"a": {"min_effect": 0.1, "allow": 0.05}})",
                     "benchmarks.a.allow: must not be below min_effect, 0.1"),
       }) {
    try {
      settings_in(std::string("{") + text + "}");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(problem));
    }
  }
}

TEST(SettingsTest, APatternForEachNameThereIsIsTooMuch) {
  nlohmann::json many;
  for (int i = 0; i < 1001; ++i) many["benchmarks"][std::to_string(i)] = {{"weight", 1}};
  EXPECT_THROW(read_settings(JsonField(many, "suite.json", ""), "benchmarks"), InputError);
}

}  // namespace
}  // namespace fusegate::baselines
