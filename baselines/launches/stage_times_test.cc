// Constructed profiles: no GPU.
#include "baselines/launches/stage_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::baselines {
namespace {

LaunchedKernel kernel(const std::string& stage, double start_ns, double duration_ns) {
  return {.name = stage, .span = {stage, start_ns, duration_ns, 0}};
}

TEST(StageTimes, SumsKernelsByStageAndCountsGaps) {
  CallProfile profile;
  profile.kernels = {kernel("gate_proj", 1000, 300), kernel("gate_proj", 1350, 50),
                     kernel("gelu", 1500, 100)};
  profile.memory_operations = {{.kind = "memset", .span = {"gate_proj", 900, 20, 0}}};
  const StageTimes times = stage_times(profile);
  ASSERT_EQ(times.stages.size(), 2u);
  EXPECT_EQ(times.stages[0].stage, "gate_proj");
  EXPECT_EQ(times.stages[0].kernels, 2);
  EXPECT_EQ(times.stages[0].memory_operations, 1);
  EXPECT_DOUBLE_EQ(times.stages[0].sum_ns, 370);
  EXPECT_DOUBLE_EQ(times.stages[0].own_ns, 370);
  EXPECT_DOUBLE_EQ(times.stages[1].sum_ns, 100);
  EXPECT_DOUBLE_EQ(times.gap_ns, 80 + 50 + 100);
  EXPECT_DOUBLE_EQ(times.span_ns, 700);
  EXPECT_DOUBLE_EQ(times.share(times.stages[1].own_ns), 100.0 / 700);
}

// Launched early, the second lies on the GPU while the first runs.
TEST(StageTimes, GiveTimeThatTwoKernelsShareToTheFirst) {
  CallProfile profile;
  profile.kernels = {kernel("gate_up_geglu", 0, 1000), kernel("down_proj", 400, 900)};
  const StageTimes times = stage_times(profile);
  EXPECT_DOUBLE_EQ(times.stages[1].sum_ns, 900);
  EXPECT_DOUBLE_EQ(times.stages[1].own_ns, 300);
  EXPECT_DOUBLE_EQ(times.gap_ns, 0);
  EXPECT_DOUBLE_EQ(times.span_ns, 1300);
}

TEST(StageTimes, GiveNothingOfItsOwnToAKernelWithinAnother) {
  CallProfile profile;
  profile.kernels = {kernel("a", 0, 1000), kernel("b", 200, 100), kernel("a", 1200, 10)};
  const StageTimes times = stage_times(profile);
  EXPECT_DOUBLE_EQ(times.stages[1].own_ns, 0);
  EXPECT_DOUBLE_EQ(times.gap_ns, 200);
}

TEST(StageTimes, AddUpToTheSpan) {
  CallProfile profile;
  profile.kernels = {kernel("", -20, 30), kernel("a", 5, 50), kernel("b", 30, 10),
                     kernel("a", 100, 7), kernel("c", 104, 60)};
  const StageTimes times = stage_times(profile);
  double total = times.gap_ns;
  for (const StageTime& stage : times.stages) total += stage.own_ns;
  EXPECT_DOUBLE_EQ(total, times.span_ns);
}

TEST(StageTimes, AreNoneWhereNothingRan) {
  const StageTimes times = stage_times({});
  EXPECT_TRUE(times.stages.empty());
  EXPECT_EQ(times.span_ns, 0);
  EXPECT_EQ(times.share(0), 0);
}

StageTimes of_one_kernel(double duration_ns) {
  CallProfile profile;
  profile.kernels = {kernel("addmm", 0, duration_ns)};
  return stage_times(profile);
}

TEST(MedianStageTimes, AreOfTheProcessesThatLaunchedAlike) {
  CallProfile split;
  split.kernels = {kernel("addmm", 0, 10), kernel("addmm", 20, 10)};
  const StageTimes times = median_stage_times(
      {stage_times(split), of_one_kernel(100), of_one_kernel(300), of_one_kernel(120)});
  EXPECT_EQ(times.processes, 3);
  ASSERT_EQ(times.stages.size(), 1u);
  EXPECT_EQ(times.stages[0].kernels, 1);
  EXPECT_DOUBLE_EQ(times.stages[0].own_ns, 120);
  EXPECT_DOUBLE_EQ(times.span_ns, 120);
}

TEST(MedianStageTimes, AreThoseOfTheFirstWhereNoneIsInTheMajority) {
  CallProfile split;
  split.kernels = {kernel("addmm", 0, 10), kernel("addmm", 20, 10)};
  EXPECT_EQ(median_stage_times({stage_times(split), of_one_kernel(1)}).stages[0].kernels, 2);
  EXPECT_EQ(median_stage_times({of_one_kernel(1), stage_times(split)}).stages[0].kernels, 1);
}

}  // namespace
}  // namespace fusegate::baselines
