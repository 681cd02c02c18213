#include "kernels/cuda/gemm/sm80/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr GemmSize kReference{8192, 3072, 768};

GatedGemmPlan cheapest_plan(const GemmSize& size, const GpuLimits& gpu) {
  return gated_gemm_plans_sm80(size, gpu).front();
}

TEST(GatedTiles, FitInAnA100sSharedMemoryAndRegisters) {
  for (const GatedTile& tile : kGatedTiles) {
    EXPECT_TRUE(fits(tile, kA100));
    // 65536 registers an SM, given out by 256 to a warp.
    EXPECT_LE(tile.threads() * tile.blocks_per_sm, 256);
    EXPECT_EQ(tile.rows % (16 * tile.warps_down), 0);
    EXPECT_EQ(tile.cols % kGatedWarpCols, 0);
  }
}

TEST(TileRaster, VisitsEveryTileOnce) {
  for (const TileRaster& raster :
       {TileRaster{1, 1, 1}, TileRaster{7, 5, 3}, TileRaster{16, 9, 16}, TileRaster{33, 1, 8}}) {
    EXPECT_TRUE(visits_every_tile_once(raster));
  }
}

TEST(TileRaster, GoesDownAGroupBeforeItTakesTheNextColumn) {
  const TileRaster raster{5, 4, 2};
  const auto at = [&](int index) { return std::pair(raster.at(index).row, raster.at(index).col); };
  EXPECT_EQ(at(0), std::pair(0, 0));
  EXPECT_EQ(at(1), std::pair(1, 0));
  EXPECT_EQ(at(2), std::pair(0, 1));
  EXPECT_EQ(at(8), std::pair(2, 0));   // the second group
  EXPECT_EQ(at(17), std::pair(4, 1));  // the last, of one row
}

TEST(GroupRows, AreAsManyOfXAsOfTheWeightsWhereThoseStayInTheL2) {
  constexpr GemmSize kSize{8192, 3072, 768};  // weights of 9.4 MB
  EXPECT_EQ(group_rows(kSize, {128, 128}, 132, kH200.l2_bytes), 16);
  EXPECT_EQ(group_rows(kSize, {128, 128}, 108, kA100.l2_bytes), 16);
  EXPECT_EQ(group_rows(kSize, {128, 64}, 108, kA100.l2_bytes), 11);
  EXPECT_EQ(group_rows({512, 3072, 768}, {128, 128}, 132, kH200.l2_bytes), 4)
      << "no more than there are";
  EXPECT_EQ(group_rows(kSize, {256, 96, true}, 66, kH200.l2_bytes), 1)
      << "clusters share the weights";
}

TEST(GroupRows, AreAsManyAsStayInTheL2WhereTheWeightsDoNot) {
  EXPECT_EQ(group_rows({4096, 8192, 2048}, {256, 96, true}, 66, kH200.l2_bytes), 16) << "all";
  EXPECT_EQ(group_rows({8192, 11008, 4096}, {256, 128, true}, 66, kH200.l2_bytes), 8);
  EXPECT_EQ(group_rows({8192, 11008, 4096}, {256, 128, true}, 66, kH100.l2_bytes), 8);
  EXPECT_EQ(group_rows({8192, 11008, 4096}, {128, 128}, 108, kA100.l2_bytes), 13);
  EXPECT_EQ(group_rows({8192, 53248, 16384}, {128, 128}, 108, kA100.l2_bytes), 16)
      << "3 are too few";
}

TEST(GroupRows, AreEqualAndASixthMoreWhereThatSavesAGroup) {
  const auto of = [](std::int64_t rows) {
    return group_rows({rows, 4096, 2048}, {256, 128, true}, 66, kH100.l2_bytes);
  };
  EXPECT_EQ(of(256 * 15), 15) << "what stays";
  EXPECT_EQ(of(256 * 16), 16);
  EXPECT_EQ(of(256 * 17), 17);
  EXPECT_EQ(of(256 * 18), 9);
  EXPECT_EQ(of(256 * 35), 12) << "of which the last has 11";
}

TEST(GegluPlan, LaunchesWhatTheGpuHoldsAndNoMoreThanThereAreTiles) {
  const GatedGemmPlan large = plan_gated_gemm_sm80(kReference, kA100, 0);  // 64 x 24 tiles
  EXPECT_EQ(large.blocks, 108);
  EXPECT_EQ(large.waves, 15);
  const GatedGemmPlan two_an_sm = plan_gated_gemm_sm80(kReference, kA100, 1);
  EXPECT_EQ(two_an_sm.blocks, 216);
  // Rationed for four, but an A100 has shared memory for three.
  EXPECT_EQ(plan_gated_gemm_sm80(kReference, kA100, 3).blocks, 3 * 108);
  EXPECT_EQ(plan_gated_gemm_sm80(kReference, kH200, 3).blocks, 4 * 132);
  const GatedGemmPlan small = plan_gated_gemm_sm80({1, 72, 768}, kA100, 3);
  EXPECT_EQ(small.blocks, 3);
  EXPECT_EQ(small.waves, 1);
}

// On every GPU: an A100 holds fewer blocks than the GPUs that are measured, and an A10 fewer still.
TEST(GegluPlan, FitsEveryGpuAndCoversEveryTileOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      for (std::size_t i = 0; i < kGatedTiles.size(); ++i) {
        const GatedTile& tile = kGatedTiles[i];
        if (!fits(tile, gpu)) continue;
        SCOPED_TRACE(testing::Message() << name << ", " << mlp.rows << " x " << mlp.hidden << " x "
                                        << mlp.dim << ", tile " << i);
        const GemmSize size{mlp.rows, mlp.hidden, mlp.dim};
        const GatedGemmPlan plan = plan_gated_gemm_sm80(size, gpu, i);
        const int resident = resident_blocks(tile, gpu), tiles = plan.raster.count();
        const auto bytes = static_cast<std::size_t>(tile.shared_bytes());
        EXPECT_LE(bytes, gpu.shared_bytes_per_block);
        EXPECT_LE(resident * (bytes + 1024), gpu.shared_bytes_per_sm);
        EXPECT_EQ(plan.blocks, std::min(tiles, resident * gpu.sm_count));
        EXPECT_EQ(plan.waves, (tiles + plan.blocks - 1) / plan.blocks);
        expect_covers(plan.raster, size, tile.rows, tile.cols);
      }
    }
  }
}

// 8192 x 3072 in tiles of 128 x 128 is 1536 tiles: 14.2 for each of 108 SMs.
TEST(GegluPlan, OffersWhatIsNearTheCheapest) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      const GemmSize size{mlp.rows, mlp.hidden, mlp.dim};
      const std::vector<GatedGemmPlan> plans = gated_gemm_plans_sm80(size, gpu);
      for (std::size_t tile = 0; tile < kGatedTiles.size(); ++tile) {
        if (!fits(kGatedTiles[tile], gpu)) continue;
        const double cost = plan_gated_gemm_sm80(size, gpu, tile).cost;
        EXPECT_GE(cost, plans.front().cost) << name;
        EXPECT_EQ(cost <= 1.5 * plans.front().cost,
                  std::ranges::find(plans, tile, &GatedGemmPlan::tile) != plans.end())
            << name;
      }
    }
  }
  const GatedGemmPlan reference = cheapest_plan(kReference, kA100);
  EXPECT_EQ(reference.tile, 0u);
  EXPECT_EQ(reference.waves, 15);
}

// The tile with the most reuse where there are rows enough to fill the GPU with it; the smallest
// where only many small blocks can keep every SM loading weights.
TEST(GegluPlan, TakesLargeTilesForManyRowsAndSmallOnesForFew) {
  for (const GpuLimits& gpu : {kA100, kH200}) {
    EXPECT_EQ(cheapest_plan(kReference, gpu).tile, 0u);
    EXPECT_EQ(cheapest_plan({1, 3072, 768}, gpu).tile, kGatedTiles.size() - 1);
    EXPECT_EQ(cheapest_plan({1, 14336, 4096}, gpu).tile, kGatedTiles.size() - 1);
  }
}

TEST(GegluPlan, LeavesOutTilesThatDoNotFit) {
  ASSERT_FALSE(fits(kGatedTiles[0], kA10));
  EXPECT_NE(cheapest_plan(kReference, kA10).tile, 0u);
  EXPECT_THAT([] { plan_gated_gemm_sm80(kReference, kA10, 0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("147456 bytes")));
  constexpr GpuLimits kTiny{40, 1 << 10, 64 << 10, 4 << 20};
  EXPECT_THAT([&] { cheapest_plan(kReference, kTiny); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("no tile fits")));
}

TEST(GegluPlan, SaysWhichSizeItCannotDo) {
  const auto why = [](const GemmSize& size) { return [size] { cheapest_plan(size, kH200); }; };
  EXPECT_THAT(why({1, 12, 768}),
              ThrowsMessage<std::invalid_argument>(
                  "gated_gemm_sm80: hidden is 12, must be a multiple of 8 from 8 to 2147418111"));
  EXPECT_THAT(why({1 << 30, 1 << 20, 8}), ThrowsMessage<std::invalid_argument>(HasSubstr("tiles")));
  expect_refuses([](const GemmSize& size) { cheapest_plan(size, kH200); });
}

TEST(GegluPlan, IsOneLineOfText) {
  EXPECT_EQ(
      plan_text(plan_gated_gemm_sm80(kReference, kH200, 0)),
      "tile 128 x (128 + 128) x 64, 3 stages, 147456 bytes shared, 132 blocks of 256 threads, "
      "12 waves");
}

}  // namespace
}  // namespace fusegate::kernels
