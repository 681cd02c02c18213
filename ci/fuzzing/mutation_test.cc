#include "ci/fuzzing/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fusegate::ci {
namespace {

std::vector<std::string> first_of(Mutator mutator, std::size_t count = 1000) {
  std::vector<std::string> texts;
  while (texts.size() < count) texts.push_back(mutator.next());
  return texts;
}

const std::vector<std::string> kInputs{R"({"time": 12, "name": "first"})", "[1, 2]"};

TEST(Mutator, MakesTheSameOfTheSameSeed) {
  EXPECT_EQ(first_of({5, kInputs, 100}), first_of({5, kInputs, 100}));
  EXPECT_NE(first_of({5, kInputs, 100}), first_of({6, kInputs, 100}));
}

TEST(Mutator, MakesManyOfFew) {
  const std::vector<std::string> texts = first_of({5, kInputs, 100});
  EXPECT_GT(std::set(texts.begin(), texts.end()).size(), 900u);
}

TEST(Mutator, MakesNoneLongerThanTold) {
  for (const std::string& text : first_of({5, {std::string(100, 'x')}, 20})) {
    EXPECT_LE(text.size(), 20u);
  }
}

TEST(Mutator, MakesDeepAndLongOnes) {
  const std::vector<std::string> texts = first_of({5, kInputs, 1 << 16}, 10'000);
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr(std::string(1000, '[') + "12]]")));
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr(std::string(1000, '['))));
  EXPECT_THAT(texts, testing::Contains(testing::SizeIs(testing::Gt(20'000u))));
}

TEST(Mutator, StartsFromNothing) {
  EXPECT_THAT(first_of({5, {}, 100}), testing::Contains(testing::SizeIs(testing::Gt(0u))));
  EXPECT_THAT(first_of({5, {""}, 100}), testing::Contains(testing::IsEmpty()));
}

TEST(Mutator, PutsOddNumbersInThePlaceOfNumbers) {
  EXPECT_THAT(first_of({5, kInputs, 100}, 10'000),
              testing::Contains(R"({"time": 9223372036854775807, "name": "first"})"));
}

TEST(Mutator, PutsPartsOfOneInputIntoAnother) {
  EXPECT_THAT(
      first_of({5, kInputs, 100}),
      testing::Contains(testing::AllOf(testing::HasSubstr("\"time\""), testing::HasSubstr("[1"))));
}

}  // namespace
}  // namespace fusegate::ci
