#include "baselines/calibration/file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "baselines/calibration/calibrate.h"
#include "baselines/calibration/test_pool.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

Calibration example() {
  std::mt19937_64 random(1);
  fusegate::baselines::Run first = simulate({.times_ns = {50'000, 10'000}}, random);
  fusegate::baselines::Run second =
      simulate({.device_uuid = "GPU-2", .times_ns = {50'000, 10'000}}, random);
  for (fusegate::baselines::Run* run : {&first, &second}) {
    run->provenance.protocol = {{"samples", 60}, {"l2", "warm"}};
    run->provenance.commit = "0123456789abcdef";
    run->warnings = {Warning::kUnlockedClocks};
  }
  second.benchmarks[1].processes[3].cycles = std::nan("");
  Calibration calibration = calibrate(pool_runs({first, second}), {.comparisons = 20});
  calibration.date = "2026-11-21T05:17:32+00:00";
  calibration.left_out = {"a \"quoted\" name"};
  return calibration;
}

TEST(CalibrationText, KeepsEveryFigure) {
  const Calibration original = example();
  const json root = json::parse(calibration_text(original));
  EXPECT_EQ(root.at("fusegate_calibration"), kCalibrationSchemaVersion);
  EXPECT_EQ(root.at("suite"), "pr");
  EXPECT_EQ(root.at("environment"), json(original.environment));
  EXPECT_EQ(root.at("protocol"), original.protocol);
  EXPECT_EQ(root.at("runs").at(1).at("device_uuid"), "GPU-2");
  EXPECT_EQ(root.at("left_out"), json(original.left_out));
  const json& spread = root.at("spread").at("from_20_us").at("time");
  EXPECT_NEAR(spread.at("rms").get<double>(), original.spread[0].time.rms, 1e-6);
  EXPECT_EQ(root.at("rules").at(0).at("side_by_side").at("regressions").at("of"), 0);
  const json& between = root.at("between_card");
  EXPECT_NEAR(between.at("time").get<double>(), original.between_card->all.time, 1e-6);
  EXPECT_TRUE(between.at("classes").at("from_3_to_20_us").at("cycles").is_null());
  EXPECT_TRUE(root.at("benchmarks").at(1).at("spread_cycles").is_null());
  EXPECT_NEAR(root.at("benchmarks").at(0).at("time_ns").get<double>(), 50'000, 50);
  EXPECT_TRUE(between.at("compute_bound").at("time").is_null());
  EXPECT_EQ(root.at("spread").at("from_20_us").at("target"), 0.001);
  const json& rule = root.at("rules").at(0);
  EXPECT_TRUE(rule.at("other_card").at("regressions").at("share").is_null());
  EXPECT_TRUE(
      rule.at("same_card").at("smallest_detectable").at("from_20_us").at("p90").is_number());
  EXPECT_EQ(rule.at("same_card").at("regressions").at("of"), 20);
  EXPECT_EQ(root.at("draws").at("side"), 5);
}

TEST(ReadSpreads, HasEachBenchmarksSpreadInTime) {
  const ScratchFolder folder;
  const Calibration original = example();
  const auto spreads = read_spreads(folder.write("c.json", calibration_text(original)));
  ASSERT_EQ(spreads.size(), original.benchmarks.size());
  for (const BenchmarkCalibration& benchmark : original.benchmarks) {
    EXPECT_NEAR(spreads.at(benchmark.name), benchmark.spread_time, 1e-3 * benchmark.spread_time);
  }
  EXPECT_THROW(read_spreads(folder.write("none.json", "{}")), InputError);
}

TEST(CalibrationPath, IsBesideTheBaseline) {
  const Environment h200{{"device", "NVIDIA H200"}};
  EXPECT_EQ(calibration_path("store", h200, "pr"), "store/nvidia-h200/pr.calibration.json");
  EXPECT_EQ(calibration_path("store", h200, "my.suite"),
            "store/nvidia-h200/my-suite.calibration.json");
}

TEST(CalibrationPath, IsNeverTakenForABaseline) {
  const ScratchFolder folder;
  const Environment h200{{"device", "NVIDIA H200"}};
  folder.write("nvidia-h200/pr.calibration.json", calibration_text(example()));
  for (const char* suite : {"pr", "pr.calibration", "pr-calibration"}) {
    EXPECT_FALSE(find_baseline({folder.path()}, h200, suite)) << suite;
  }
  EXPECT_FALSE(is_baseline_text(calibration_text(example())));
}

}  // namespace
}  // namespace fusegate::baselines
