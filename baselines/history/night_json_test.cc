#include "baselines/history/night_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "baselines/history/night_fields.h"
#include "baselines/history/test_night.h"
#include "baselines/io/error.h"

namespace fusegate::baselines {
namespace {

using ::testing::HasSubstr;

std::string problem_of_line(const std::string& line) {
  try {
    parse_night(line, "nights.jsonl:3");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

// The line of a night with one change.
std::string changed_line(const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json night = nlohmann::json::parse(night_line(test_night(1)));
  change(night);
  return night.dump();
}

TEST(NightJsonTest, HasEveryFieldOfANight) {
  const Night night = test_night(1);
  const std::string line = night_line(night);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Night read = parse_night(line, "line 1");
  EXPECT_EQ(read.session, night.session);
  EXPECT_EQ(read.unix_s, night.unix_s);
  for (const auto& [name, text] : kNightTexts) {
    EXPECT_NE(read.*text, "");
    EXPECT_EQ(read.*text, night.*text);
  }
  const NightBenchmark& benchmark = read.benchmarks.at(1);
  const NightBenchmark& expected = night.benchmarks.at(1);
  for (const auto& [name, figure] : kFigures) EXPECT_EQ(benchmark.*figure, expected.*figure);
  EXPECT_EQ(benchmark.name, expected.name);
  EXPECT_EQ(benchmark.operation, expected.operation);
  EXPECT_EQ(benchmark.implementation, expected.implementation);
  EXPECT_TRUE(benchmark.is_control);
  EXPECT_EQ(benchmark.processes, 5);
  EXPECT_EQ(benchmark.identity, expected.identity);
  EXPECT_EQ(benchmark.kernels, expected.kernels);
  EXPECT_EQ(benchmark.choices, expected.choices);
  EXPECT_EQ(benchmark.over_replay->value, expected.over_replay->value);
  EXPECT_EQ(benchmark.over_replay->variance, expected.over_replay->variance);
  EXPECT_EQ(benchmark.clock_ghz, expected.clock_ghz);
  EXPECT_EQ(benchmark.clock_share, expected.clock_share);
}

TEST(NightJsonTest, LeavesOutWhatIsNotKnown) {
  Night night{.session = "s", .unix_s = 1'764'000'000, .benchmarks = {{.name = "a"}}};
  const std::string line = night_line(night);
  EXPECT_EQ(line, R"({"benchmarks":[{"name":"a","processes":0}],"date":"2025-11-24T16:00:00Z",)"
                  R"("fusegate_night":1,"session":"s"})");
  const Night read = parse_night(line, "line 1");
  EXPECT_TRUE(std::isnan(read.benchmarks.at(0).ns));
  EXPECT_TRUE(std::isnan(read.benchmarks.at(0).clock_ghz));
  EXPECT_EQ(read.benchmarks.at(0).over_replay, std::nullopt);
  EXPECT_EQ(night_line(read), line);
}

TEST(NightJsonTest, NamesTheLineAndTheField) {
  using nlohmann::json;
  EXPECT_THAT(problem_of_line("{"), HasSubstr("nights.jsonl:3: "));
  EXPECT_THAT(problem_of_line(changed_line([](json& night) { night["fusegate_night"] = 2; })),
              HasSubstr("nights.jsonl:3: fusegate_night: a newer fusegate wrote it"));
  EXPECT_THAT(problem_of_line(changed_line([](json& night) { night["date"] = "today"; })),
              HasSubstr("nights.jsonl:3: date: must be a date"));
  EXPECT_THAT(problem_of_line(changed_line([](json& night) { night["session"] = ""; })),
              HasSubstr("session: must not be empty"));
  EXPECT_THAT(
      problem_of_line(changed_line([](json& night) { night["benchmarks"][1]["ns"] = "x"; })),
      HasSubstr("benchmarks[1].ns: "));
  EXPECT_THAT(problem_of_line(changed_line(
                  [](json& night) { night["benchmarks"][1] = night["benchmarks"][0]; })),
              HasSubstr("is in it twice"));
}

}  // namespace
}  // namespace fusegate::baselines
