#include "ci/report/why_json.h"

#include <gtest/gtest.h>

#include "baselines/record/test_run.h"

namespace fusegate::ci {
namespace {

baselines::BenchmarkSeries profiled() {
  baselines::CallProfile call;
  call.kernels = {{.name = "a", .span = {"gate_proj", 0, 30e3, 1}},
                  {.name = "b", .span = {"", 40e3, 60e3, 2}}};
  baselines::BenchmarkSeries series = baselines::test_series("m", {100e3});
  series.stage_times = baselines::stage_times(call);
  series.expectation = baselines::TraceExpectation{{{"mul", "1 mul", "nothing", false}}};
  return series;
}

TEST(ProfilesJson, HasStagesThenTheGapsAndTheExpectation) {
  const auto json =
      profiles_json(baselines::test_run({profiled(), baselines::test_series("without", {1})}));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["benchmark"], "m");
  const auto& stages = json[0]["stages"];
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0]["stage"], "gate_proj");
  EXPECT_EQ(stages[0]["kernels"], 1);
  EXPECT_DOUBLE_EQ(stages[0]["share"].get<double>(), 0.3);
  EXPECT_EQ(stages[1]["stage"], "");
  EXPECT_TRUE(stages[2]["stage"].is_null());
  EXPECT_DOUBLE_EQ(stages[2]["own_ns"].get<double>(), 10e3);
  EXPECT_TRUE(stages[2]["sum_ns"].is_null());
  EXPECT_EQ(json[0]["expectation"]["met"], false);
  EXPECT_EQ(json[0]["expectation"]["parts"][0]["seen"], "nothing");
}

TEST(ProfilesJson, SaysWhichOfTheTwoIsMissing) {
  baselines::BenchmarkSeries series = profiled();
  series.expectation.reset();
  EXPECT_TRUE(profiles_json(baselines::test_run({series}))[0]["expectation"].is_null());
  series = profiled();
  series.stage_times.reset();
  EXPECT_TRUE(profiles_json(baselines::test_run({series}))[0]["stages"].is_null());
}

TEST(CeilingsJson, HasNullForWhatWasNotMeasured) {
  EXPECT_EQ(ceilings_json({}), nlohmann::json::parse(R"({"gemm_tflops": {}, "copy_gbps": null})"));
  const auto json =
      ceilings_json({{{"bf16", {700, "linear"}}}, MeasuredRate{4000, "copy"}, std::nullopt});
  EXPECT_EQ(json["gemm_tflops"]["bf16"]["value"], 700);
  EXPECT_EQ(json["copy_gbps"]["benchmark"], "copy");
}

TEST(CrossoversJson, HasPointsCrossingsAndTheirText) {
  const Crossover crossover{"geglu",
                            "bf16",
                            768,
                            3072,
                            "fused",
                            "unfused",
                            {{512, 0.5}, {2048, 2}},
                            {{1024, {512, 0.5}, {2048, 2}}}};
  const auto json = crossovers_json({crossover});
  EXPECT_EQ(json[0]["points"][1]["rows"], 2048);
  EXPECT_EQ(json[0]["crossings"][0]["rows"], 1024);
  EXPECT_EQ(json[0]["crossings"][0]["before"]["ratio"], 0.5);
  EXPECT_EQ(json[0]["text"], crossover_text(crossover));
}

}  // namespace
}  // namespace fusegate::ci
