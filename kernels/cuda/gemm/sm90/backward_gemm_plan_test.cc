#include "kernels/cuda/gemm/sm90/backward_gemm_plan.h"

#include <gtest/gtest.h>

#include "kernels/cuda/device/known_gpus.h"
#include "kernels/cuda/gemm/raster_test.h"

namespace fusegate::kernels {
namespace {

TEST(BackwardGemmPlan, CoversEveryTileOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const int rows : {1, 128, 2048, 8200}) {
      SCOPED_TRACE(testing::Message() << name << ", " << rows << " rows");
      const GemmSize size{rows, 3072, 768};
      expect_covers(plan_backward_gemm_sm90(size, gpu).raster, size,
                    kBackwardGemmRows * kBackwardGemmCluster, kBackwardGemmCols);
    }
  }
}

TEST(BackwardGemmPlan, SaysHowItIsCut) {
  EXPECT_EQ(backward_gemm_text(plan_backward_gemm_sm90({8192, 3072, 768}, kH200)),
            "backward_gemm_sm90: 64 x 16 tiles of 128 x 192, 3 stages");
}

TEST(BackwardGemmPlan, LoadsLongSumsFurtherAhead) {
  EXPECT_EQ(backward_gemm_text(plan_backward_gemm_sm90({8192, 14336, 4096}, kH200)),
            "backward_gemm_sm90: 64 x 75 tiles of 128 x 192, 4 stages");
}

TEST(BackwardGemmPlan, RefusesWhatTheCopyEngineCannotAddress) {
  expect_refuses([](const GemmSize& size) { plan_backward_gemm_sm90(size, kH200); });
}

}  // namespace
}  // namespace fusegate::kernels
