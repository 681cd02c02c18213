#include "baselines/changes/find_missing.h"

#include <gtest/gtest.h>

#include "baselines/changes/test_nights.h"

namespace fusegate::baselines {
namespace {

constexpr std::int64_t kDay_s = TestNights::kDay_s;

TEST(MissingData, NothingIsMissingOfRegularNights) {
  const TestNights year(30);
  EXPECT_TRUE(missing_data(year.nights, year.nights.back().unix_s + kDay_s).empty());
  EXPECT_TRUE(missing_data({}, 0).empty());
}

TEST(MissingData, ANightIsDueAtTheUsualInterval) {
  const TestNights year(30);
  const auto missing = missing_data(year.nights, year.nights.back().unix_s + 2 * kDay_s);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].what, "nights");
  EXPECT_EQ(missing[0].since, "s029");
  EXPECT_EQ(missing[0].until, "");
  EXPECT_EQ(missing[0].text, "no night for 2.0 days after s029, where one is usual every 1.0 days");
}

TEST(MissingData, FreeWeekendsAreUsual) {
  TestNights year(40);
  for (std::size_t i = 0; i < 40; ++i) {
    year.nights[i].unix_s = static_cast<std::int64_t>(i + 2 * (i / 5)) * kDay_s;
  }
  // The first weekends are not known to come again.
  const auto missing = missing_data(year.nights, year.nights.back().unix_s + 3 * kDay_s);
  ASSERT_LE(missing.size(), 2u);
  for (const MissingData& own : missing) EXPECT_LT(own.since, "s012");
}

TEST(MissingData, APauseThatIsOverIsReported) {
  TestNights year(30);
  for (std::size_t i = 20; i < 30; ++i) year.nights[i].unix_s += 7 * kDay_s;
  const auto missing = missing_data(year.nights, year.nights.back().unix_s);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].since, "s019");
  EXPECT_EQ(missing[0].until, "s020");
}

TEST(MissingData, AClockThatIsSetBackIsNoPause) {
  TestNights year(30);
  year.nights[15].unix_s -= 5 * kDay_s;
  for (const MissingData& own : missing_data(year.nights, year.nights.back().unix_s)) {
    EXPECT_EQ(own.until, "s016");
  }
}

TEST(MissingData, BenchmarksThatStoppedAreOneFinding) {
  TestNights year(30);
  for (std::size_t i = 26; i < 30; ++i) {
    for (const int benchmark : {1, 2, 3, 4, 5}) {
      year.nights[i].benchmarks[static_cast<std::size_t>(benchmark)].processes = 0;
    }
  }
  auto missing = missing_data(year.nights, year.nights.back().unix_s);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].what, "benchmarks");
  EXPECT_EQ(missing[0].text,
            "5 benchmarks stopped reporting since s025: op0/b01, op0/b02, op0/b03 and 2 more");
  year.set(&Night::suite, 26, std::string("smaller"));
  missing = missing_data(year.nights, year.nights.back().unix_s);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].what, "suite");
}

TEST(MissingData, OneNightWithoutABenchmarkIsNoFinding) {
  TestNights year(30);
  year.at(29, 3).processes = 0;
  EXPECT_TRUE(missing_data(year.nights, year.nights.back().unix_s).empty());
}

TEST(MissingData, CardsAndMachinesAreDueAsOftenAsTheyCame) {
  TestNights year(40);
  for (std::size_t i = 0; i < 30; i += 4) {
    year.nights[i].card = "GPU-2";
    year.nights[i].machine = "other";
  }
  const auto missing = missing_data(year.nights, year.nights.back().unix_s);
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].what, "card GPU-2");
  EXPECT_EQ(missing[0].since, "s028");
  EXPECT_EQ(missing[1].what, "machine other");
  EXPECT_TRUE(missing_data(std::span(year.nights).first(34), 33 * kDay_s).empty());
}

TEST(MissingData, WhatIsGoneForLongIsRetired) {
  TestNights year(80);
  for (std::size_t i = 0; i < 20; ++i) year.nights[i].card = "GPU-2";
  EXPECT_TRUE(missing_data(year.nights, year.nights.back().unix_s).empty());
}

}  // namespace
}  // namespace fusegate::baselines
