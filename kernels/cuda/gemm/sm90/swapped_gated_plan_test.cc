#include "kernels/cuda/gemm/sm90/swapped_gated_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"

namespace fusegate::kernels {
namespace {

using testing::IsEmpty;
using testing::Not;

TEST(SwappedGatedPlan, CoversEveryTileOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
      const SwappedTileSm90& shape = kSwappedTilesSm90[tile];
      const int above = shape.shares_weights ? shape.cluster : 1;
      for (const int rows : {65, 200, 300, 1000}) {
        SCOPED_TRACE(testing::Message() << name << ", tile " << tile << ", " << rows << " rows");
        const GemmSize size{rows, 10240, 2560};
        expect_covers(plan_swapped_gated_sm90(size, gpu, tile).raster, size, shape.rows * above,
                      shape.cols * shape.cluster / above);
      }
    }
  }
}

std::vector<GatedGemmPlan> plans(const GemmSize& size) {
  return swapped_gated_plans_sm90(size, kH200);
}

TEST(SwappedGatedPlan, IsForSomeTensToSomeHundredRows) {
  EXPECT_THAT(plans({16, 10240, 2560}), IsEmpty());
  EXPECT_THAT(plans({17, 10240, 2560}), Not(IsEmpty()));
  EXPECT_THAT(plans({512, 10240, 2560}), Not(IsEmpty()));
  EXPECT_THAT(plans({513, 10240, 2560}), IsEmpty());
}

TEST(SwappedGatedPlan, TakesTilesOf32RowsForNoMore) {
  const auto measures = [](int rows) {
    return std::ranges::count(plans({rows, 10240, 2560}), 0u, &GatedGemmPlan::tile);
  };
  EXPECT_EQ(kSwappedTilesSm90[0].rows, 32);
  EXPECT_EQ(measures(32), 1);
  EXPECT_EQ(measures(33), 0);
  const GatedGemmPlan best = plans({32, 25600, 5120}).front();
  EXPECT_TRUE(best.tile == 0 && best.streams_k) << swapped_text_sm90(best);
}

TEST(SwappedGatedPlan, TakesFirstWhatComputesLeast) {
  const auto first = [](int rows) { return swapped_text_sm90(plans({rows, 10240, 2560}).front()); };
  EXPECT_EQ(first(200),
            "swapped, tile 208 x (64 + 64) x 64, 5 stages, 33 clusters of 4 blocks, stream-K");
  EXPECT_EQ(first(256),
            "swapped, tile 128 x (160 + 160) x 64, 4 stages, 64 clusters of 2 blocks one above the "
            "other, 1 waves");
}

// Of 224 tiles of 256 x 64, four to a cluster, 33 clusters have 56 in two rounds: 1.7 of work.
TEST(SwappedGatedPlan, StreamsKWhereItComputesLess) {
  const GatedGemmPlan best = plans({256, 14336, 3584}).front();
  EXPECT_EQ(swapped_text_sm90(best),
            "swapped, tile 256 x (64 + 64) x 64, 4 stages, 33 clusters of 4 blocks, stream-K");
  EXPECT_TRUE(best.streams_k);
  EXPECT_NEAR(best.cost, (56 / 33. + 0.05) * 256 * 64, 1e-6);
  const auto streams = [](const GemmSize& size, std::size_t tile) {
    return plan_swapped_gated_sm90(size, kH200, tile, true).streams_k;
  };
  constexpr std::size_t kWide = 7;  // 256 x 64
  EXPECT_TRUE(streams({256, 14336, 3584}, kWide));
  EXPECT_FALSE(streams({257, 14336, 3584}, kWide)) << "two tiles read the same weights";
  EXPECT_TRUE(streams({360, 14336, 3584}, kWide)) << "which take longer to multiply";
  EXPECT_FALSE(streams({256, 2 * 33 * 256, 3584}, kWide)) << "all have two";
  EXPECT_FALSE(streams({256, 8192, 3584}, kWide)) << "fewer tiles than clusters";
  EXPECT_FALSE(plan_swapped_gated_sm90({256, 14336, 3584}, kH200, kWide).streams_k)
      << "nobody asks for it";
}

TEST(SwappedGatedPlan, RefusesWhatTheCopyEngineCannotAddress) {
  expect_refuses([](const GemmSize& size) { plan_swapped_gated_sm90(size, kH200, 0); });
}

}  // namespace
}  // namespace fusegate::kernels
