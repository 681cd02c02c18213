#include "kernels/cuda/ranks/overlapped_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

namespace fusegate::kernels {
namespace {

// Of out: rows of all ranks, dim, a rank's part of hidden.
constexpr GemmSize kSizes[] = {{2048, 4096, 5504}, {8192, 4096, 7168}, {8192, 4096, 1024}};

TEST(RankedRaster, VisitsEveryTileOnceAndRanksInTurn) {
  for (int parts = 1; parts <= 4; ++parts) {
    for (int first = 0; first < parts; ++first) {
      const RankedRaster raster{{.row_tiles = 5, .col_tiles = 3, .group_rows = 2}, parts, first};
      std::set<std::pair<int, int>> seen;
      for (int i = 0; i < raster.count(); ++i) {
        const TilePosition tile = raster.at(i);
        EXPECT_EQ(raster.owner(tile), (first + i / 15) % parts);
        EXPECT_EQ(raster.within(tile).row, raster.part.at(i % 15).row);
        EXPECT_LT(tile.row, 5 * parts);
        seen.insert({tile.row, tile.col});
      }
      EXPECT_EQ(seen.size(), 15U * static_cast<unsigned>(parts));
    }
  }
}

TEST(WideExchangePlan, CoversOutAndBeginsWithOthersRows) {
  for (const GemmSize& size : kSizes) {
    for (const int count : {1, 2, 4}) {
      for (const bool has_rows : {false, true}) {
        SCOPED_TRACE(testing::Message() << size.m << " rows, " << count << " ranks, " << has_rows);
        ASSERT_EQ(refuses_wide_exchange(size, count, has_rows, kH200), "");
        const WideExchangePlan plan = plan_wide_exchange(size, {count - 1, count}, has_rows, kH200);
        const int parts = has_rows ? count : 1;
        expect_covers(plan.raster.part, {size.m / parts, size.n, size.k}, kWideGemmRows,
                      kWideGemmCluster * plan.cols);
        EXPECT_EQ(plan.raster.parts, parts);
        EXPECT_EQ(plan.raster.owner(plan.raster.at(0)), 0);
        EXPECT_EQ(plan.raster.owner(plan.raster.at(plan.raster.count() - 1)), parts - 1);
        EXPECT_EQ(plan.slot_bytes, plan.raster.count() * 2 * 256 * plan.cols * 2);
        EXPECT_LE(plan.raster.part.count() * kWideGemmCluster, kDataFlags);
      }
    }
  }
}

TEST(WideExchangePlan, TakesTheWidthThatLeavesTheFewestSmsIdle) {
  const auto cols = [](const GemmSize& size) {
    return plan_wide_exchange(size, {0, 2}, false, kH200).cols;
  };
  EXPECT_EQ(cols({2048, 4096, 5504}), 128);  // 1.94 rounds for 1.33
  EXPECT_EQ(cols({8192, 4096, 5504}), 128);  // 7.76 for 5.33
  EXPECT_EQ(cols({8192, 768, 1536}), 192);   // 0.97 for 1.45
}

// So ranks come to the same tile at the same time, which they wait for.
TEST(WideExchangePlan, IsTheSameOnAllRanksWhereRowsAreNotSplit) {
  for (const GemmSize& size : kSizes) {
    const WideExchangePlan first = plan_wide_exchange(size, {0, 2}, false, kH200);
    const WideExchangePlan second = plan_wide_exchange(size, {1, 2}, false, kH200);
    for (int i = 0; i < first.raster.count(); ++i) {
      EXPECT_EQ(first.raster.at(i).row, second.raster.at(i).row);
      EXPECT_EQ(first.raster.at(i).col, second.raster.at(i).col);
    }
  }
}

TEST(WideExchangePlan, RefusesWhatItCannotCut) {
  EXPECT_EQ(refuses_wide_exchange({4096, 4096, 1024}, 9, false, kH200),
            "it is built for 8 ranks at most");
  EXPECT_EQ(refuses_wide_exchange({2048 + 256, 4096, 1024}, 2, true, kH200),
            "2304 rows are not 2 ranks' whole tiles of 256");
  EXPECT_EQ(refuses_wide_exchange({128, 768, 1024}, 2, false, kH200),
            "128 x 768 has too few tiles of 256 x 192 for 132 SMs");
  EXPECT_EQ(refuses_wide_exchange({1 << 20, 16384, 1024}, 2, false, kH200),
            "it has more than 32704 tiles");
}

TEST(GatheringPlan, BeginsWithOwnRowsAndHasWholeTilesInAPiece) {
  for (const int count : {1, 2, 4}) {
    for (const std::int64_t rows : {1024, 2048, 7168, 8192}) {
      for (int rank = 0; rank < count; ++rank) {
        const GatheringPlan plan = plan_gathering({rows, 5504, 4096}, {rank, count}, kH200);
        EXPECT_EQ(plan.raster.owner(plan.raster.at(0)), rank);
        EXPECT_EQ(plan.raster.parts, count);
        EXPECT_EQ(plan.raster.part.row_tiles * kOverlappedRows, rows / count);
        EXPECT_EQ(plan.chunk_rows % kOverlappedRows, 0);
        EXPECT_GE(plan.chunk_rows * kGatherChunks, rows / count);
      }
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
