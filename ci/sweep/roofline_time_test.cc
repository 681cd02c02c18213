#include "ci/sweep/roofline_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ci/sweep/test_figures.h"

namespace fusegate::ci {
namespace {

using ::testing::ElementsAre;

BenchmarkFigures control(const std::string& kernel, double time_ns, double flops, double bytes) {
  BenchmarkFigures one = test_figures(kernel, time_ns, flops, bytes);
  one.is_control = true;
  return one;
}

TEST(MeasuredRates, TakeTheBestControlOfEachDtypeThatIsLongEnoughAndDoesArithmetic) {
  const MeasuredRates rates = measured_rates(
      {control("product/a/bf16", 125e3, 5e10, 1), control("product/b/bf16", 100e3, 5e10, 1),
       control("product/a/fp16", 50e3, 2e10, 1), control("product/short/bf16", 19.9e3, 2e10, 1),
       control("softmax/library/fp32", 100e3, 1e8, 4e7),
       test_figures("mlp/a/bf16", 100e3, 15e10, 1)});
  ASSERT_EQ(rates.gemm_tflops.size(), 2u);
  EXPECT_DOUBLE_EQ(rates.gemm_tflops.at("bf16").value, 500);
  EXPECT_EQ(rates.gemm_tflops.at("bf16").benchmark,
            "product/b/bf16/batch:64/seq:128/dim:768/hidden:3072");
  EXPECT_DOUBLE_EQ(rates.gemm_tflops.at("fp16").value, 400);
}

TEST(MeasuredRates, TakeOperationsThatComputeWhatAControlDoes) {
  const MeasuredRates rates = measured_rates({control("product/library/bf16", 200e3, 5e10, 1e8),
                                              test_figures("biased/a/bf16", 100e3, 5.02e10, 1e8),
                                              test_figures("mlp/a/bf16", 100e3, 15e10, 1e8)});
  EXPECT_EQ(rates.gemm_tflops.at("bf16").benchmark,
            "biased/a/bf16/batch:64/seq:128/dim:768/hidden:3072");
}

TEST(MeasuredRates, LendTheGemmRateBetweenFormatsOf16Bits) {
  const MeasuredRates rates = measured_rates({control("product/library/bf16", 100e3, 5e10, 1)});
  ASSERT_EQ(rates.gemm_tflops.size(), 2u);
  EXPECT_DOUBLE_EQ(rates.gemm_tflops.at("fp16").value, 500);
  EXPECT_TRUE(rates.gemm_tflops.at("fp16").benchmark.starts_with("product/library/bf16/"));
  const MeasuredRates other = measured_rates({control("product/library/fp16", 50e3, 2e10, 1)});
  EXPECT_DOUBLE_EQ(other.gemm_tflops.at("bf16").value, 400);
}

TEST(MeasuredRates, TakeTheLargestCopyAndNotTheFastest) {
  const MeasuredRates rates = measured_rates({control("copy/driver/bf16", 40e3, 0, 1.6e8),
                                              control("copy/cached/bf16", 3e3, 0, 1.8e7),
                                              test_figures("transpose/own/bf16", 100e3, 0, 3e8)});
  ASSERT_TRUE(rates.copy_gbps);
  EXPECT_DOUBLE_EQ(rates.copy_gbps->value, 4000);
}

TEST(MeasuredRates, TakeTheShortestBenchmarkOfKernelsForALaunch) {
  const MeasuredRates rates =
      measured_rates({test_figures("geglu/fused/bf16", 4000, 1, 1, 1),
                      test_figures("geglu/unfused/bf16", 2400, 1, 1, 2),
                      test_figures("geglu/many/bf16", 3000, 1, 1, 6),
                      test_figures("control_copy/memcpy/bf16", 900, 0, 1, 0)});
  ASSERT_TRUE(rates.launch_ns);
  EXPECT_DOUBLE_EQ(rates.launch_ns->value, 1200);
  EXPECT_TRUE(rates.launch_ns->benchmark.starts_with("geglu/unfused/"));
}

TEST(MeasuredRates, LackOtherProgramsAndWhatWasNotRecorded) {
  BenchmarkFigures plain = control("linear/addmm/bf16", 100e3, 5e10, 1);
  plain.name = "BM_linear/8";
  plain.launches = kNan;
  const MeasuredRates rates =
      measured_rates({plain, test_figures("linear/a/bf16", 9e4, kNan, kNan, kNan),
                      control("linear/failed/bf16", kNan, 1e9, 1e6)});
  EXPECT_TRUE(rates.gemm_tflops.empty());
  EXPECT_FALSE(rates.copy_gbps);
  EXPECT_FALSE(rates.launch_ns);
}

RooflineTime by_round_rates(double time_ns, double flops, double bytes) {
  return roofline_time_of(test_figures("a/b/bf16", time_ns, flops, bytes), round_rates());
}

TEST(RooflineTimeOf, IsTheLargerOfArithmeticAndMemoryAndMayBeBeaten) {
  const RooflineTime gemm = by_round_rates(120e3, 5e10, 4e7);
  EXPECT_DOUBLE_EQ(gemm.ns, 100e3);
  EXPECT_DOUBLE_EQ(gemm.gap, 1.2);
  EXPECT_DOUBLE_EQ(gemm.gemm_share, 100.0 / 120);
  EXPECT_DOUBLE_EQ(gemm.copy_share, 10.0 / 120);
  const RooflineTime pointwise = by_round_rates(50e3, 5e7, 1.6e8);
  EXPECT_DOUBLE_EQ(pointwise.ns, 40e3);
  EXPECT_DOUBLE_EQ(pointwise.gap, 1.25);
  EXPECT_DOUBLE_EQ(pointwise.copy_share, 0.8);
  EXPECT_DOUBLE_EQ(by_round_rates(20e3, 5e7, 1.6e8).copy_share, 2);
  EXPECT_DOUBLE_EQ(by_round_rates(20e3, 5e7, 1.6e8).gap, 0.5);
}

TEST(RooflineTimeOf, IsUnknownWithoutARateOrTheBenchmarksOwnWork) {
  const BenchmarkFigures known = test_figures("a/b/bf16", 100e3, 5e10, 4e7);
  BenchmarkFigures other = known;
  other.name = "BM_other/8";
  MeasuredRates no_copy = round_rates();
  no_copy.copy_gbps.reset();
  for (const RooflineTime& roofline_time :
       {roofline_time_of(other, round_rates()),
        roofline_time_of(test_figures("a/b/fp16", 100e3, 5e10, 4e7), round_rates()),
        roofline_time_of(known, no_copy), by_round_rates(100e3, 5e10, kNan),
        by_round_rates(100e3, kNan, 4e7), by_round_rates(kNan, 5e10, 4e7),
        by_round_rates(100e3, 0, 0)}) {
    EXPECT_TRUE(std::isnan(roofline_time.ns));
    EXPECT_TRUE(std::isnan(roofline_time.gap));
  }
}

TEST(RooflineTimeOf, HasTheShareOfTheOneRateThatIsKnown) {
  const RooflineTime no_gemm =
      roofline_time_of(test_figures("a/b/fp16", 100e3, 5e10, 4e7), round_rates());
  EXPECT_DOUBLE_EQ(no_gemm.copy_share, 0.1);
  EXPECT_TRUE(std::isnan(no_gemm.gemm_share));
  MeasuredRates no_copy = round_rates();
  no_copy.copy_gbps.reset();
  const RooflineTime gemm_alone =
      roofline_time_of(test_figures("a/b/bf16", 200e3, 5e10, 4e7), no_copy);
  EXPECT_TRUE(std::isnan(gemm_alone.copy_share));
  EXPECT_DOUBLE_EQ(gemm_alone.gemm_share, 0.5);
}

TEST(RateSentences, SayWhereARateComesFromOrThatThereIsNone) {
  EXPECT_THAT(
      rate_sentences(round_rates(), {"bf16", "fp16"}),
      ElementsAre("GEMM rate in bf16: 500 TFLOP/s, of linear",
                  "no GEMM of 20.00 us or more in fp16 in this run",
                  "copy rate: 4000 GB/s, of copy", "a launch: 2.000 us a kernel, of launch"));
  EXPECT_THAT(rate_sentences({}, {}), ElementsAre("no copy control in this run",
                                                  "no kernel launches recorded in this run"));
}

// Of the test problem, so that names and controls are those of figures.
baselines::BenchmarkSeries series_of(const BenchmarkFigures& figures) {
  baselines::BenchmarkSeries series;
  series.name = figures.name;
  series.is_control = figures.is_control;
  series.processes = {{.time_ns = figures.time_ns}};
  series.counters = {{"flops", figures.flops}, {"min_bytes", figures.min_bytes}};
  return series;
}

baselines::Run run_on(const std::string& device, const std::vector<BenchmarkFigures>& figures) {
  baselines::Run run;
  run.environment["device"] = device;
  for (const BenchmarkFigures& one : figures) run.benchmarks.push_back(series_of(one));
  return run;
}

TEST(RooflineTimes, TakeFromAnotherRunWhatARunDidNotMeasure) {
  const BenchmarkFigures copy = control("copy/driver/bf16", 40e3, 0, 1.6e8);
  const BenchmarkFigures product = control("product/library/bf16", 100e3, 5e10, 1);
  const BenchmarkFigures slow = test_figures("mlp/slow/bf16", 400e3, 5e10, 1e8);
  const BenchmarkFigures same = test_figures("mlp/same/bf16", 200e3, 5e10, 1e8);
  const auto share_of = [](const RooflineTimes& times, const BenchmarkFigures& figures) {
    const auto found = times.find(figures.name);
    return found == times.end() ? 0 : found->second.share();
  };
  baselines::Run run = run_on("H200", {slow, same});
  run.benchmarks[1].processes.clear();  // identical code, so not measured
  const baselines::Run baseline = run_on("H200", {copy, product, same, slow});
  const RooflineTimes times = roofline_times(run, {&baseline});
  EXPECT_DOUBLE_EQ(times.at(slow.name).ns, 100e3);
  EXPECT_DOUBLE_EQ(share_of(times, slow), 0.25);
  EXPECT_DOUBLE_EQ(share_of(times, same), 0.5);
  EXPECT_TRUE(roofline_times(run, {}).empty()) << "no rates";
  const baselines::Run other = run_on("H100", {copy, product, same, slow});
  EXPECT_TRUE(roofline_times(run, {&other}).empty()) << "another device's rates say nothing";
  run.benchmarks[1].failure = "wrong";
  EXPECT_DOUBLE_EQ(share_of(roofline_times(run, {&baseline}), same), 0) << "nor old figures";
}

}  // namespace
}  // namespace fusegate::ci
