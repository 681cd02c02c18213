#include "kernels/cuda/gemm/sm90/swapped_gated_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(SwappedGatedPlan, IsForSomeHundredRows) {
  EXPECT_THAT(swapped_gated_plans_sm90({64, 10240, 2560}, kH200), IsEmpty());
  EXPECT_THAT(swapped_gated_plans_sm90({65, 10240, 2560}, kH200), Not(IsEmpty()));
  EXPECT_THAT(swapped_gated_plans_sm90({512, 10240, 2560}, kH200), Not(IsEmpty()));
  EXPECT_THAT(swapped_gated_plans_sm90({513, 10240, 2560}, kH200), IsEmpty());
}

TEST(SwappedGatedPlan, TakesFirstWhatComputesLeast) {
  const auto first = [](int rows) {
    return swapped_text_sm90(swapped_gated_plans_sm90({rows, 10240, 2560}, kH200).front());
  };
  EXPECT_EQ(first(200),
            "swapped, tile 208 x (96 + 96) x 64, 4 stages, 54 clusters of 2 blocks, 1 waves");
  EXPECT_EQ(first(256),
            "swapped, tile 128 x (160 + 160) x 64, 4 stages, 64 clusters of 2 blocks one above the "
            "other, 1 waves");
}

TEST(SwappedGatedPlan, RefusesWhatTheCopyEngineCannotAddress) {
  expect_refuses([](const GemmSize& size) { plan_swapped_gated_sm90(size, kH200, 0); });
}

}  // namespace
}  // namespace fusegate::kernels
