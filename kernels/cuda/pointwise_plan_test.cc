#include "kernels/cuda/pointwise_plan.h"

#include <gtest/gtest.h>

#include "kernels/device.h"

namespace fusegate {
namespace {

constexpr PointwiseGrid kGrid{.threads = 256, .packs_a_thread = 2};

TEST(PointwisePlan, DealsEveryElementOnce) {
  for (const std::int64_t count : {1, 7, 8, 9, 3073, 4095, 4096, 4097, 8 * 3073, 25165824}) {
    for (const bool aligned : {true, false}) {
      const PointwisePlan plan = plan_pointwise(count, 8, aligned, kGrid);
      EXPECT_EQ(std::int64_t{plan.packs} * 8 + plan.tail, count);
      EXPECT_LT(aligned ? plan.tail : plan.packs, 8u);
      const unsigned a_block = 2 * 256, items = plan.packs + plan.tail;
      EXPECT_GE(plan.blocks * a_block, items);
      EXPECT_LT((plan.blocks - 1) * a_block, items) << "a block with nothing to do";
    }
  }
}

TEST(PointwisePlan, IsExactWhereEveryThreadHasAllItsPacks) {
  EXPECT_TRUE(plan_pointwise(8192 * 3072, 8, true, kGrid).exact(kGrid));
  EXPECT_TRUE(plan_pointwise(4096, 8, true, kGrid).exact(kGrid));
  EXPECT_FALSE(plan_pointwise(4096 + 8, 8, true, kGrid).exact(kGrid)) << "a pack too many";
  EXPECT_FALSE(plan_pointwise(4096 - 8, 8, true, kGrid).exact(kGrid)) << "a pack too few";
  EXPECT_FALSE(plan_pointwise(4096 + 1, 8, true, kGrid).exact(kGrid)) << "a tail";
  EXPECT_FALSE(plan_pointwise(512, 8, false, kGrid).exact(kGrid)) << "all of it tail";
}

TEST(PointwisePlan, RefusesWhatThirtyTwoBitsDoNotCount) {
  const std::int64_t most_packs = (std::int64_t{1} << 32) - 2 * 2 * 256;
  EXPECT_NO_THROW(plan_pointwise(most_packs * 8, 8, true, kGrid));
  EXPECT_THROW(plan_pointwise((std::int64_t{1} << 32) * 8, 8, true, kGrid), DeviceError);
  EXPECT_THROW(plan_pointwise(std::int64_t{1} << 32, 8, false, kGrid), DeviceError);
}

}  // namespace
}  // namespace fusegate
