#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"

namespace fusegate::kernels {
namespace {

TEST(WideGemmPlan, IsTriedWhereItsTilesFillTheGpu) {
  EXPECT_TRUE(is_wide_enough_sm90({8192, 768, 3072}, kH200));  // 128 tiles
  EXPECT_FALSE(is_wide_enough_sm90({2048, 768, 3072}, kH200));
  // 99 tiles are three quarters of 132.
  EXPECT_TRUE(is_wide_enough_sm90({99 * 256, 192, 64}, kH200));
  EXPECT_FALSE(is_wide_enough_sm90({98 * 256, 192, 64}, kH200));
  EXPECT_TRUE(is_wide_enough_sm90({98 * 256, 192, 64}, kH100Pcie));
}

TEST(WideGemmPlan, CoversEveryTileOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      SCOPED_TRACE(testing::Message() << name << ", " << mlp.rows << " x " << mlp.dim);
      const GemmSize size{mlp.rows, mlp.dim, mlp.hidden};
      expect_covers(plan_wide_gemm_sm90(size, gpu), size, kWideGemmRows,
                    kWideGemmCols * kWideGemmCluster);
    }
  }
}

TEST(WideGatedPlan, CoversEveryTileOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      SCOPED_TRACE(testing::Message() << name << ", " << mlp.rows << " x " << mlp.dim);
      const GemmSize size{mlp.rows, mlp.hidden, mlp.dim};
      expect_covers(plan_wide_gated_sm90(size, gpu), size, kWideGemmRows,
                    kWideGatedCols * kWideGemmCluster);
    }
  }
}

TEST(WideGatedPlan, IsTriedForLongSumsWhereTilesFillTheGpu) {
  EXPECT_FALSE(is_wide_gated_worth({8192, 3072, 768}, kH200));
  EXPECT_TRUE(is_wide_gated_worth({8192, 11008, 4096}, kH200));
  EXPECT_TRUE(is_wide_gated_worth({698, 28544, 5248}, kH200));   // 894 tiles in seven waves
  EXPECT_FALSE(is_wide_gated_worth({256, 14336, 4096}, kH200));  // 150 tiles in two
}

TEST(WideGemmPlan, RefusesWhatTheCopyEngineCannotAddress) {
  expect_refuses([](const GemmSize& size) { plan_wide_gemm_sm90(size, kH200); });
  expect_refuses([](const GemmSize& size) { plan_wide_gated_sm90(size, kH200); });
}

TEST(WideGemmPlan, IsOneLineOfText) {
  EXPECT_EQ(wide_gemm_text(plan_wide_gemm_sm90({8192, 768, 3072}, kH200)),
            "wide_gemm_sm90: 32 x 4 tiles of 256 x 192");
  const TileRaster gated = plan_wide_gated_sm90({698, 28544, 5248}, kH200);
  EXPECT_EQ(wide_gated_text(gated, kH200),
            "tile 256 x (96 + 96) x 64, 3 stages, 66 clusters of 2 blocks side by side, 7 waves");
}

}  // namespace
}  // namespace fusegate::kernels
