#include "kernels/cuda/gemm/sm80/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// CUDA Programming Guide, "Technical Specifications per Compute Capability": 8.0, 8.6, 9.0.
constexpr GpuLimits kA100{108, 163 << 10, 164 << 10};
constexpr GpuLimits kA10{72, 99 << 10, 100 << 10};
constexpr GpuLimits kH200{132, 227 << 10, 228 << 10};
constexpr GatedGemmSize kReference{8192, 3072, 768};

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
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < raster.count(); ++i) {
      const TilePosition at = raster.at(i);
      EXPECT_THAT(at.row, testing::AllOf(testing::Ge(0), testing::Lt(raster.row_tiles)));
      EXPECT_THAT(at.col, testing::AllOf(testing::Ge(0), testing::Lt(raster.col_tiles)));
      seen.emplace(at.row, at.col);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(raster.count()));
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

TEST(GegluPlan, CoversEveryElementWithNoTileToSpare) {
  for (std::size_t tile = 0; tile < kGatedTiles.size(); ++tile) {
    for (const int rows : {1, 31, 32, 33, 127, 128, 129}) {
      for (const int hidden : {8, 128, 136, 3072}) {
        const TileRaster raster = plan_gated_gemm_sm80({rows, hidden, 768}, kH200, tile).raster;
        const GatedTile& shape = kGatedTiles[tile];
        EXPECT_GE(raster.row_tiles * shape.rows, rows);
        EXPECT_LT((raster.row_tiles - 1) * shape.rows, rows);
        EXPECT_GE(raster.col_tiles * shape.cols, hidden);
        EXPECT_LT((raster.col_tiles - 1) * shape.cols, hidden);
      }
    }
  }
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

// The tile with the most reuse where there are rows enough to fill the GPU with it; the smallest
// where only many small blocks can keep every SM loading weights.
TEST(GegluPlan, TakesLargeTilesForManyRowsAndSmallOnesForFew) {
  for (const GpuLimits& gpu : {kA100, kH200}) {
    EXPECT_EQ(plan_gated_gemm_sm80(kReference, gpu).tile, 0u);
    EXPECT_EQ(plan_gated_gemm_sm80({1, 3072, 768}, gpu).tile, kGatedTiles.size() - 1);
    EXPECT_EQ(plan_gated_gemm_sm80({1, 14336, 4096}, gpu).tile, kGatedTiles.size() - 1);
  }
}

TEST(GegluPlan, IsNoDearerThanAnyTile) {
  for (const int rows : {1, 64, 128, 1000, 8192}) {
    const GatedGemmSize size{rows, 11008, 4096};
    const double cycles = plan_gated_gemm_sm80(size, kH200).cost;
    for (std::size_t tile = 0; tile < kGatedTiles.size(); ++tile) {
      EXPECT_LE(cycles, plan_gated_gemm_sm80(size, kH200, tile).cost);
    }
  }
}

TEST(GegluPlan, LeavesOutTilesThatDoNotFit) {
  ASSERT_FALSE(fits(kGatedTiles[0], kA10));
  EXPECT_NE(plan_gated_gemm_sm80(kReference, kA10).tile, 0u);
  EXPECT_THAT([] { plan_gated_gemm_sm80(kReference, kA10, 0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("147456 bytes")));
  constexpr GpuLimits kTiny{40, 1 << 10, 64 << 10};
  EXPECT_THAT([&] { plan_gated_gemm_sm80(kReference, kTiny); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("no tile fits")));
}

TEST(GegluPlan, SaysWhichSizeItCannotDo) {
  const auto expect_refused = [](const GatedGemmSize& size, const std::string& why) {
    EXPECT_THAT([&] { plan_gated_gemm_sm80(size, kH200); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
  };
  expect_refused({1, 12, 768},
                 "hidden must be a multiple of 8 between 1 and 2147482623, but is 12");
  expect_refused({1, 3072, 4}, "dim");
  expect_refused({0, 3072, 768}, "rows");
  expect_refused({1LL << 31, 8, 8}, "rows");
  expect_refused({1 << 30, 1 << 20, 8}, "tiles");
}

TEST(GegluPlan, TellsItselfInALine) {
  EXPECT_EQ(
      plan_text(plan_gated_gemm_sm80(kReference, kH200, 0)),
      "tile 128 x (128 + 128) x 64, 3 stages, 147456 bytes shared, 132 blocks of 256 threads, "
      "12 waves");
}

}  // namespace
}  // namespace fusegate::kernels
