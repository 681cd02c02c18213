#include "baselines/calibration/file.h"

#include <gmock/gmock.h>
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
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Calibration example() {
  std::mt19937_64 random(1);
  fusegate::baselines::Run first = simulate({.times_ns = {50'000, 10'000}}, random);
  fusegate::baselines::Run second =
      simulate({.device_uuid = "GPU-2", .times_ns = {50'000, 10'000}}, random);
  for (fusegate::baselines::Run* run : {&first, &second}) {
    run->provenance.protocol = {{"samples", 60}, {"l2", "warm"}};
    run->provenance.commit = "0123456789abcdef";
    run->doubts = {Doubt::kUnlockedClocks};
  }
  second.benchmarks[1].invocations[3].cycles = std::nan("");
  Calibration calibration = calibrate(pool_runs({first, second}), {.comparisons = 20});
  calibration.date = "2026-11-21T05:17:32+00:00";
  calibration.left_out = {"a \"quoted\" name"};
  return calibration;
}

TEST(CalibrationText, IsTheSameBytesAfterReadingBack) {
  const std::string text = calibration_text(example());
  EXPECT_EQ(calibration_text(parse_calibration(text, "c.json")), text);
}

TEST(CalibrationText, KeepsEveryFigure) {
  const Calibration original = example();
  const Calibration read = parse_calibration(calibration_text(original), "c.json");
  EXPECT_EQ(read.suite, "pr");
  EXPECT_EQ(read.environment, original.environment);
  EXPECT_EQ(read.protocol, original.protocol);
  EXPECT_EQ(read.runs.at(1).device_uuid, "GPU-2");
  EXPECT_EQ(read.left_out, original.left_out);
  EXPECT_NEAR(read.spread[0].time.rms, original.spread[0].time.rms, 1e-6);
  EXPECT_EQ(read.rules.at(0).same_card.alarms.regressions.of, 20);
  EXPECT_EQ(read.rules.at(1).same_card.detection.at(2).found[0].count,
            original.rules.at(1).same_card.detection.at(2).found[0].count);
  EXPECT_EQ(read.rules.at(0).side_by_side.alarms.regressions.of, 0);
  EXPECT_NEAR(read.between_card->all.time, original.between_card->all.time, 1e-6);
  EXPECT_TRUE(std::isnan(read.between_card->classes[1].cycles));
  EXPECT_TRUE(std::isnan(read.benchmarks.at(1).spread_cycles));
  EXPECT_NEAR(read.benchmarks.at(0).time_ns, 50'000, 50);
}

// What other programs may rely on.
TEST(CalibrationText, HasTheDocumentedKeys) {
  const json root = json::parse(calibration_text(example()));
  EXPECT_TRUE(root.at("between_card").at("time").is_number());
  EXPECT_TRUE(root.at("between_card").at("compute_bound").at("time").is_null());
  EXPECT_EQ(root.at("spread").at("from_20_us").at("target"), 0.001);
  const json& found = root.at("rules").at(0).at("same_card").at("detection").at(2).at("found");
  EXPECT_TRUE(found.at("below_3_us").at("share").is_null());
  EXPECT_EQ(root.at("rules").at(0).at("same_card").at("regressions").at("of"), 20);
  EXPECT_EQ(root.at("draws").at("possible"), 504);
}

void expect_error(const std::string& path, const json& value, const std::string& message) {
  json root = json::parse(calibration_text(example()));
  root[json::json_pointer(path)] = value;
  EXPECT_THAT([&] { parse_calibration(root.dump(), "c.json"); },
              ThrowsMessage<InputError>(HasSubstr("c.json: " + message)));
}

TEST(ParseCalibration, NamesFileAndField) {
  expect_error("/fusegate_calibration", 2, "fusegate_calibration: 2 is newer than this fusegate");
  expect_error("/environment", nullptr, "environment: is missing");
  expect_error("/runs/0/invocations", -1, "runs[0].invocations: must not be negative");
  expect_error("/draws/seed", -1, "draws.seed: must be a whole number");
  expect_error("/spread/below_3_us", nullptr, "spread.below_3_us: is missing");
  expect_error("/spread/from_20_us/time/rms", "x", "spread.from_20_us.time.rms: must be a number");
  expect_error("/rules/0/same_card/regressions/count", 21,
               "rules[0].same_card.regressions.count: must not be above \"of\"");
  expect_error("/rules/1/same_card/detection/0/slowdown", 0,
               "rules[1].same_card.detection[0].slowdown: must be positive");
  expect_error("/between_card/time", -0.1, "between_card.time: must not be negative");
  expect_error("/between_card/classes", 3, "between_card.classes: must be an object");
  expect_error("/benchmarks/1/name", nullptr, "benchmarks[1].name: is missing");
  EXPECT_THAT([] { parse_calibration("{", "c.json"); },
              ThrowsMessage<InputError>(HasSubstr("c.json: no valid JSON")));
  EXPECT_THAT([] { parse_calibration("[]", "c.json"); },
              ThrowsMessage<InputError>(HasSubstr("c.json: must be an object")));
}

TEST(ReadCalibration, NamesAFileThatIsNotThere) {
  EXPECT_THAT([] { read_calibration("/no/such/pr.calibration.json"); },
              ThrowsMessage<InputError>(HasSubstr("/no/such/pr.calibration.json")));
}

TEST(CalibrationPath, IsBesideTheBaseline) {
  const Environment h200{{"device", "NVIDIA H200"}};
  EXPECT_EQ(calibration_path("store", h200, "pr"), "store/nvidia-h200/pr.calibration.json");
  EXPECT_EQ(calibration_path("store", h200, "my.suite"),
            "store/nvidia-h200/my-suite.calibration.json");
}

TEST(FindCalibration, TakesTheFirstStoreThatHasOne) {
  const ScratchFolder folder;
  const Environment h200{{"device", "NVIDIA H200"}};
  const std::vector<std::filesystem::path> stores{folder.path() / "local", folder.path() / "git"};
  EXPECT_FALSE(find_calibration(stores, h200, "pr"));
  folder.write("git/nvidia-h200/pr.json", "{}");
  EXPECT_FALSE(find_calibration(stores, h200, "pr"));
  const auto second = folder.write("git/nvidia-h200/pr.calibration.json", "{}");
  EXPECT_EQ(find_calibration(stores, h200, "pr"), second);
  const auto first = folder.write("local/nvidia-h200/pr.calibration.json", "{}");
  EXPECT_EQ(find_calibration(stores, h200, "pr"), first);
}

TEST(FindCalibration, IsNeverTakenForABaseline) {
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
