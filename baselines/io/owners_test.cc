#include "baselines/io/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

Owners owners_in(const char* text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return read_owners(JsonField(json, "suite.json", "owners"));
}

TEST(OwnersTest, TheMostSpecialPatternNamesTheOwner) {
  const Owners owners =
      owners_in(R"({".": "@ann", "^geglu": "@org/team-mlp", "^geglu/fused/": "@bob"})");
  EXPECT_EQ(owner_of(owners, "linear/addmm/fp32/batch:1"), "@ann");
  EXPECT_EQ(owner_of(owners, "geglu/unfused/fp32/batch:1"), "@org/team-mlp");
  EXPECT_EQ(owner_of(owners, "geglu/fused/fp32/batch:1"), "@bob");
  EXPECT_EQ(owner_of({{"^geglu/", "@bob"}}, "linear/addmm/fp32"), "");
}

TEST(OwnersTest, WhatIsNoOwnerIsRefusedByItsField) {
  for (const auto& [text, problem] : {
           std::pair(R"({"(": "@ann"})", "owners.(: "),
           std::pair(R"({"": "@ann"})", "owners: has an empty pattern"),
           std::pair(R"({"a": "ann"})", "owners.a: must be \"@user\""),
           std::pair(R"({"a": "@ann [x]"})", "owners.a: must be \"@user\""),
           std::pair(R"({"a": "@ann\n@bob"})", "owners.a: must be \"@user\""),
           std::pair(R"({"a": 1})", "owners.a: must be a string"),
       }) {
    try {
      owners_in(text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(problem));
    }
  }
}

}  // namespace
}  // namespace fusegate::baselines
