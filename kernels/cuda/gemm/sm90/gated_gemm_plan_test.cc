#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"

namespace fusegate::kernels {
namespace {

GatedGemmPlan cheapest_plan(const GemmSize& size) {
  return gated_gemm_plans_sm90(size, kH200).front();
}
int cols_of(const GemmSize& size) { return kGatedTilesSm90[cheapest_plan(size).tile].cols; }
int cluster_of(const GemmSize& size) { return kGatedTilesSm90[cheapest_plan(size).tile].cluster; }

// What measured fastest on an H200 (driver 580.159.04, 2026-11-21 and 23).
TEST(GatedGemmSm90Plan, TakesTheTileThatMeasuredFastest) {
  EXPECT_EQ(cols_of({128, 3072, 768}), 32);
  EXPECT_EQ(cols_of({256, 3072, 768}), 48);
  EXPECT_EQ(cols_of({512, 3072, 768}), 96);
  EXPECT_EQ(cols_of({2048, 3072, 768}), 128);
  EXPECT_EQ(cluster_of({1024, 4096, 1024}), 1);
  for (const GemmSize& large :
       {GemmSize{8192, 3072, 768}, {32768, 3072, 768}, {4096, 8192, 2048}}) {
    EXPECT_EQ(cols_of(large), 96);  // in turn
    EXPECT_EQ(cluster_of(large), 2);
  }
  EXPECT_EQ(cols_of({8192, 11008, 4096}), 128);
  EXPECT_EQ(cluster_of({8192, 11008, 4096}), 2);
}

TEST(GatedGemmSm90Plan, OffersTheCheapestFirstAndWhatIsNear) {
  const std::vector<GatedGemmPlan> plans = gated_gemm_plans_sm90({4096, 8192, 2048}, kH200);
  ASSERT_GE(plans.size(), 2u);
  EXPECT_LT(plans.size(), kGatedTilesSm90.size());
  for (std::size_t i = 1; i < plans.size(); ++i) {
    EXPECT_LE(plans[i - 1].cost, plans[i].cost);
    EXPECT_LE(plans[i].cost, 1.2 * plans[0].cost);
  }
}

using PlanOf = GatedGemmPlan (*)(const GemmSize&, const GpuLimits&, std::size_t);

// alignment: of sizes, which are rounded up to it.
void expect_fits(PlanOf plan_of, std::span<const GatedTileSm90> tiles, std::int64_t alignment) {
  const auto aligned = [&](std::int64_t size) { return ceil_div(size, alignment) * alignment; };
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        SCOPED_TRACE(testing::Message() << name << ", " << mlp.rows << " x " << mlp.hidden << " x "
                                        << mlp.dim << ", tile " << tile);
        const GatedTileSm90& shape = tiles[tile];
        const GemmSize size{mlp.rows, aligned(mlp.hidden), aligned(mlp.dim)};
        const GatedGemmPlan plan = plan_of(size, gpu, tile);
        const TileRaster& raster = plan.raster;
        expect_covers(raster, size, shape.rows * shape.cluster, shape.cols);
        EXPECT_LE(plan.blocks * shape.cluster, gpu.sm_count);
        EXPECT_TRUE(plan.blocks == raster.count() || plan.blocks == gpu.sm_count / shape.cluster);
        EXPECT_EQ(plan.waves, (raster.count() + plan.blocks - 1) / plan.blocks);
      }
    }
  }
}

TEST(GatedGemmSm90Plan, FitsEveryGpuAndCoversEveryTileOnce) {
  expect_fits(&plan_gated_gemm_sm90, kGatedTilesSm90, 8);
  expect_fits(&plan_gated_gemm_fp8_sm90, kGatedTilesFp8Sm90, 16);
}

// e4m3 is half as long, and must be aligned as well.
TEST(GatedGemmSm90Plan, OfFp8ReadsHalfTheBytes) {
  const GatedGemmPlan wide = plan_gated_gemm_sm90({8192, 11008, 4096}, kH200, 1);
  const GatedGemmPlan plan = plan_gated_gemm_fp8_sm90({8192, 11008, 8192}, kH200, 1);
  EXPECT_EQ(kGatedTilesSm90[1].cols, kGatedTilesFp8Sm90[1].cols);
  EXPECT_EQ(plan.raster.group_rows, wide.raster.group_rows);
  EXPECT_THROW(plan_gated_gemm_fp8_sm90({8, 16, 24}, kH200, 0), std::invalid_argument);
  EXPECT_THROW(plan_gated_gemm_fp8_sm90({8, 24, 16}, kH200, 0), std::invalid_argument);
  EXPECT_EQ(plan_text_fp8_sm90(plan),
            "tile 128 x (128 + 128) x 128, 3 stages, 66 clusters of 2 blocks, 42 waves");
}

TEST(GatedGemmSm90Plan, RefusesWhatTheCopyEngineCannotAddress) { expect_refuses(&cheapest_plan); }

TEST(GatedGemmSm90Plan, IsOneLineOfText) {
  EXPECT_EQ(plan_text_sm90(cheapest_plan({8192, 3072, 768})),
            "tile 128 x (96 + 96) x 64, 4 stages, in turn, 66 clusters of 2 blocks, 16 waves");
}

}  // namespace
}  // namespace fusegate::kernels
