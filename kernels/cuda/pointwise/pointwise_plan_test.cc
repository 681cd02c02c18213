#include "kernels/cuda/pointwise/pointwise_plan.h"

#include <gtest/gtest.h>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/known_gpus.h"

namespace fusegate::kernels {
namespace {

constexpr unsigned kThreads = 256;

TEST(PointwisePlan, DealsEveryElementOnce) {
  for (const std::int64_t count : {1, 7, 8, 9, 2047, 2048, 2049, 3073, 8 * 3073, 25165824}) {
    for (const bool aligned : {true, false}) {
      const PointwisePlan plan = plan_pointwise(count, 8, aligned, kThreads);
      EXPECT_EQ(std::int64_t{plan.packs} * 8 + plan.tail, count);
      EXPECT_LT(aligned ? plan.tail : plan.packs, 8u);
      const unsigned items = plan.packs + plan.tail;
      EXPECT_GE(plan.blocks * kThreads, items);
      EXPECT_LT((plan.blocks - 1) * kThreads, items) << "a block with nothing to do";
    }
  }
}

TEST(PointwisePlan, IsExactWhereEveryThreadHasAPack) {
  EXPECT_TRUE(plan_pointwise(8192 * 3072, 8, true, kThreads).exact(kThreads));
  EXPECT_TRUE(plan_pointwise(2048, 8, true, kThreads).exact(kThreads));
  EXPECT_FALSE(plan_pointwise(2048 + 8, 8, true, kThreads).exact(kThreads)) << "a pack too many";
  EXPECT_FALSE(plan_pointwise(2048 - 8, 8, true, kThreads).exact(kThreads)) << "a pack too few";
  EXPECT_FALSE(plan_pointwise(2048 + 1, 8, true, kThreads).exact(kThreads)) << "a tail";
  EXPECT_FALSE(plan_pointwise(512, 8, false, kThreads).exact(kThreads)) << "all of it tail";
}

// What an H200 measured (pointwise_plan.h), and what that is on GPUs with less of an L2.
TEST(LargeOutput, IsHalfOfTheGpusL2) {
  constexpr std::size_t kMiB = 1 << 20;
  EXPECT_FALSE(is_large_output(24 * kMiB, kH200.l2_bytes));
  EXPECT_TRUE(is_large_output(32 * kMiB, kH200.l2_bytes));
  EXPECT_TRUE(is_large_output(24 * kMiB, kA100.l2_bytes));
  EXPECT_FALSE(is_large_output(19 * kMiB, kA100.l2_bytes));
}

TEST(PointwisePlan, RefusesWhatThirtyTwoBitsDoNotCount) {
  const std::int64_t most_packs = (std::int64_t{1} << 32) - 256;
  EXPECT_NO_THROW(plan_pointwise(most_packs * 8, 8, true, kThreads));
  EXPECT_THROW(plan_pointwise((std::int64_t{1} << 32) * 8, 8, true, kThreads), DeviceError);
  EXPECT_THROW(plan_pointwise(std::int64_t{1} << 32, 8, false, kThreads), DeviceError);
}

}  // namespace
}  // namespace fusegate::kernels
