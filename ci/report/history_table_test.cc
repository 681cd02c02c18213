#include "ci/report/history_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::ci {
namespace {

using baselines::HistoryPoint;
using ::testing::ElementsAre;

constexpr std::int64_t kNoon = 1'764'072'000;

HistoryPoint point(int day, double ns) {
  return {.night = {.session = std::to_string(day),
                    .unix_s = kNoon + 86'400 * std::int64_t{day},
                    .commit = "0123456789abcdef",
                    .device = "NVIDIA H200",
                    .card = "GPU-4cf2cd58-0a75-fe17-1f74-dfc584017386",
                    .driver = "570.1"},
          .benchmark = {.name = "a", .log_equal_clock = std::log(ns), .identity = "0f"}};
}

std::vector<std::string> texts_of(const Table& table, std::size_t row) {
  std::vector<std::string> texts;
  for (const Cell& cell : table.rows().at(row)) texts.push_back(cell.text);
  return texts;
}

TEST(HistoryTableTest, HasALineANightWithWhatChanged) {
  HistoryPoint second = point(1, 1100), third = point(2, 1050);
  second.night.driver = "580.2";
  second.benchmark.identity = "1f";
  third.night.driver = "580.2";
  third.night.card = "GPU-aaaaaaaa";
  third.night.commit = "";
  third.benchmark.identity = "";
  const Table table = history_table({point(0, 1000), second, third});
  EXPECT_THAT(texts_of(table, 0), ElementsAre("2025-11-25", "0123456789ab", "4cf2cd58", "1.000 us",
                                              "-", "|o              |", ""));
  EXPECT_THAT(texts_of(table, 1),
              ElementsAre("2025-11-26", "0123456789ab", "4cf2cd58", "1.100 us", "+10.00 %",
                          "|              o|", "driver 570.1 -> 580.2, code"));
  EXPECT_THAT(texts_of(table, 2), ElementsAre("2025-11-27", "", "aaaaaaaa", "1.050 us", "-4.55 %",
                                              "|       o       |", "card"));
}

// The night of another device, and one in which it was not measured, are no night before.
TEST(HistoryTableTest, ComparesWithTheLastNightOfTheDeviceThatMeasuredIt) {
  HistoryPoint other = point(1, 5000), left_out = point(2, 1);
  other.night.device = "NVIDIA H100";
  left_out.benchmark.log_equal_clock = baselines::kUnknown;
  const Table table = history_table({point(0, 1000), other, left_out, point(3, 1010)});
  EXPECT_EQ(texts_of(table, 1).at(4), "-");
  EXPECT_EQ(texts_of(table, 1).at(5), "|       o       |");
  EXPECT_EQ(texts_of(table, 2).at(3), "-");
  EXPECT_EQ(texts_of(table, 2).at(5), "");
  EXPECT_EQ(texts_of(table, 3).at(4), "+1.00 %");
  EXPECT_EQ(texts_of(table, 3).at(6), "");
}

}  // namespace
}  // namespace fusegate::ci
