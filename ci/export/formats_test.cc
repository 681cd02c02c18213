#include "ci/export/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fusegate::ci {
namespace {

using baselines::Night;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Night night_of(std::int64_t unix_s, double ns) {
  Night night{.session = "night",
              .unix_s = unix_s,
              .commit = "c0ffee",
              .device = "NVIDIA H200",
              .machine = "h200",
              .driver = "580",
              .suite = "nightly"};
  // Of five processes that differ by 1 %: t(0.025, 4) = 2.776.
  night.benchmarks.push_back({.name = "a/\"b\"\\c",
                              .processes = 5,
                              .process_variance = 1e-4,
                              .ns = ns,
                              .host_ns = 9000,
                              .identity = "5d0e"});
  night.benchmarks.push_back({.name = "identical"});
  night.benchmarks.push_back({.name = "once", .processes = 1, .ns = 2 * ns});
  return night;
}

const Night kNight = night_of(1'764'000'000, 1000);

TEST(ExportedTimes, HaveAnIntervalBySpreadOfProcesses) {
  const auto times = exported_times(kNight);
  ASSERT_EQ(times.size(), 2u) << "what has no time is left out";
  const double half = 2.776445 * 0.01 / std::sqrt(5.0);
  EXPECT_NEAR(times[0].interval_ns.low, 1000 * std::exp(-half), 1e-3);
  EXPECT_NEAR(times[0].interval_ns.high, 1000 * std::exp(half), 1e-3);
  EXPECT_TRUE(std::isnan(times[1].interval_ns.low));
}

TEST(ExportFormats, LntHasSeconds) {
  const json report = json::parse(lnt_text(std::span(&kNight, 1)));
  EXPECT_EQ(report["format_version"], "2");
  EXPECT_EQ(report["machine"],
            json::parse(R"({"name": "h200", "device": "NVIDIA H200", "driver": "580"})"));
  EXPECT_EQ(report["run"]["start_time"], "2025-11-24T16:00:00");
  EXPECT_EQ(report["run"]["llvm_project_revision"], "20251124160000");
  EXPECT_EQ(report["run"]["commit"], "c0ffee");
  ASSERT_EQ(report["tests"].size(), 2u);
  EXPECT_EQ(report["tests"][0],
            json({{"name", "a/\"b\"\\c"}, {"execution_time", 1e-6}, {"hash", "5d0e"}}));
}

TEST(ExportFormats, BencherHasNanosecondsAndBounds) {
  const json results = json::parse(bencher_text(std::span(&kNight, 1)));
  const json& latency = results["a/\"b\"\\c"]["latency"];
  EXPECT_EQ(latency["value"], 1000);
  EXPECT_LT(latency["lower_value"], 1000);
  EXPECT_GT(latency["upper_value"], 1000);
  EXPECT_EQ(results["once"], json::parse(R"({"latency": {"value": 2000}})"));
}

TEST(ExportFormats, GithubActionBenchmarkHasARange) {
  const json results = json::parse(github_action_benchmark_text(std::span(&kNight, 1)));
  EXPECT_EQ(results[0], json::parse(R"({"name": "a/\"b\"\\c", "unit": "ns", "value": 1000,
      "range": "± 12.4",
      "extra": "processes: 5\ndevice: NVIDIA H200\ndriver: 580\ncommit: c0ffee"})"));
  EXPECT_FALSE(results[1].contains("range"));
}

TEST(ExportFormats, OpenMetricsHasEachMetricsPointsInTheOrderOfTime) {
  const std::vector<Night> nights{night_of(2000, 1100), night_of(1000, 1000), night_of(2000, 1200)};
  const std::string text = openmetrics_text(nights);
  const std::string labels =
      R"({benchmark="a/\"b\"\\c",suite="nightly",device="NVIDIA H200",machine="h200"})";
  EXPECT_THAT(
      text, HasSubstr("# TYPE fusegate_time_seconds gauge\n"
                      "# UNIT fusegate_time_seconds seconds\n"
                      "# HELP fusegate_time_seconds Time of one call, median over "
                      "processes\nfusegate_time_seconds" +
                      labels + " 1e-06 1000\nfusegate_time_seconds" + labels + " 1.2e-06 2000\n"));
  EXPECT_THAT(text, Not(HasSubstr("joules"))) << "no night has any";
  EXPECT_THAT(text, HasSubstr(R"(fusegate_run_info{session="night",commit="c0ffee",)"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

}  // namespace
}  // namespace fusegate::ci
