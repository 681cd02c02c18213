#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <utility>

namespace fusegate::kernels {
namespace {

constexpr int kSms = 132;  // an H200's

int cols_of(const GatedGemmSize& size) {
  return kGatedTilesSm90[plan_gated_gemm_sm90(size, kSms).tile].cols;
}
int cluster_of(const GatedGemmSize& size) {
  return kGatedTilesSm90[plan_gated_gemm_sm90(size, kSms).tile].cluster;
}

// What measured fastest on an H200 (driver 580.159.04, 2026-11-21).
TEST(GatedGemmSm90Plan, TakesTheTileThatMeasuredFastest) {
  EXPECT_EQ(cols_of({128, 3072, 768}), 32);
  EXPECT_EQ(cols_of({512, 3072, 768}), 96);
  EXPECT_EQ(cols_of({2048, 3072, 768}), 128);
  EXPECT_EQ(cluster_of({1024, 4096, 1024}), 1);
  for (const GatedGemmSize& large : {GatedGemmSize{8192, 3072, 768},
                                     {32768, 3072, 768},
                                     {4096, 8192, 2048},
                                     {8192, 11008, 4096}}) {
    EXPECT_EQ(cols_of(large), 128);
    EXPECT_EQ(cluster_of(large), 2);
  }
}

TEST(GatedGemmSm90Plan, OffersTheCheapestFirstAndWhatIsNear) {
  const std::vector<GatedGemmPlan> plans = gated_gemm_plans_sm90({4096, 8192, 2048}, kSms);
  ASSERT_GE(plans.size(), 2u);
  EXPECT_LT(plans.size(), kGatedTilesSm90.size());
  EXPECT_EQ(plans[0].tile, plan_gated_gemm_sm90({4096, 8192, 2048}, kSms).tile);
  for (std::size_t i = 1; i < plans.size(); ++i) {
    EXPECT_LE(plans[i - 1].cost, plans[i].cost);
    EXPECT_LE(plans[i].cost, 1.1 * plans[0].cost);
  }
}

TEST(GatedGemmSm90Plan, CoversEveryTileOnce) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    for (const GatedGemmSize& size : {GatedGemmSize{1, 8, 8}, {129, 136, 72}, {5000, 3080, 64}}) {
      const GatedGemmPlan plan = plan_gated_gemm_sm90(size, kSms, tile);
      std::set<std::pair<int, int>> seen;
      for (int i = 0; i < plan.raster.count(); ++i) {
        const TilePosition at = plan.raster.at(i);
        EXPECT_TRUE(seen.emplace(at.row, at.col).second);
        EXPECT_LT(at.row * kGatedSm90Rows * kGatedTilesSm90[tile].cluster, size.rows);
        EXPECT_LT(at.col * kGatedTilesSm90[tile].cols, size.hidden);
      }
      EXPECT_LE(plan.blocks, plan.raster.count());
      EXPECT_LE(plan.blocks * kGatedTilesSm90[tile].cluster, kSms);
      EXPECT_GE(plan.blocks * plan.waves, plan.raster.count());
    }
  }
}

TEST(GatedGemmSm90Plan, RefusesWhatTheCopyEngineCannotAddress) {
  EXPECT_THROW(plan_gated_gemm_sm90({8, 12, 64}, kSms), std::invalid_argument);
  EXPECT_THROW(plan_gated_gemm_sm90({8, 64, 20}, kSms), std::invalid_argument);
  EXPECT_THROW(plan_gated_gemm_sm90({0, 64, 64}, kSms), std::invalid_argument);
  EXPECT_THROW(plan_gated_gemm_sm90({std::int64_t{1} << 31, 64, 64}, kSms), std::invalid_argument);
  constexpr std::int64_t kHuge = std::int64_t{1} << 30;
  EXPECT_THROW(plan_gated_gemm_sm90({kHuge, kHuge, 64}, kSms), std::invalid_argument);
}

TEST(GatedGemmSm90Plan, TellsItselfInALine) {
  EXPECT_EQ(plan_text_sm90(plan_gated_gemm_sm90({8192, 3072, 768}, kSms)),
            "tile 128 x (128 + 128) x 64, 3 stages, 66 clusters of 2 blocks, 12 waves");
}

}  // namespace
}  // namespace fusegate::kernels
