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
  constexpr std::int64_t kRows = kWideGemmRows, kCols = kWideGemmCols * kWideGemmCluster;
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      SCOPED_TRACE(testing::Message() << name << ", " << mlp.rows << " x " << mlp.dim);
      const TileRaster raster = plan_wide_gemm_sm90({mlp.rows, mlp.dim, mlp.hidden}, gpu).raster;
      EXPECT_GE(raster.row_tiles * kRows, mlp.rows);
      EXPECT_LT((raster.row_tiles - 1) * kRows, mlp.rows);
      EXPECT_GE(raster.col_tiles * kCols, mlp.dim);
      EXPECT_LT((raster.col_tiles - 1) * kCols, mlp.dim);
      EXPECT_GE(raster.group_rows, 1);
      EXPECT_LE(raster.group_rows, raster.row_tiles);
      EXPECT_TRUE(visits_every_tile_once(raster));
    }
  }
}

TEST(WideGemmPlan, RefusesWhatTheCopyEngineCannotAddress) {
  EXPECT_THROW(plan_wide_gemm_sm90({8, 12, 64}, kH200), std::invalid_argument);
  EXPECT_THROW(plan_wide_gemm_sm90({8, 64, 20}, kH200), std::invalid_argument);
  EXPECT_THROW(plan_wide_gemm_sm90({0, 64, 64}, kH200), std::invalid_argument);
  EXPECT_THROW(plan_wide_gemm_sm90({std::int64_t{1} << 31, 64, 64}, kH200), std::invalid_argument);
  constexpr std::int64_t kHuge = std::int64_t{1} << 30;
  EXPECT_THROW(plan_wide_gemm_sm90({kHuge, kHuge, 64}, kH200), std::invalid_argument);
}

TEST(WideGemmPlan, IsOneLineOfText) {
  EXPECT_EQ(wide_gemm_text(plan_wide_gemm_sm90({8192, 768, 3072}, kH200)),
            "wide_gemm_sm90: 32 x 4 tiles of 256 x 192");
}

}  // namespace
}  // namespace fusegate::kernels
