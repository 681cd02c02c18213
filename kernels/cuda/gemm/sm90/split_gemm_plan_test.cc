#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/device/known_gpus.h"

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SplitGemmPlan, TriesShapesWhoseBlocksAllRunAtOnce) {
  EXPECT_THAT(split_gemm_shapes({128, 768, 3072}, kH200), SizeIs(kSplitGemmShapes.size()));
  EXPECT_THAT(split_gemm_shapes({512, 768, 3072}, kH200), ElementsAre(3, 4, 5, 6, 9, 10));
  // One part of k is as good as none: 128 tiles have room on 132 SMs and not on 108.
  EXPECT_THAT(split_gemm_shapes({2048, 768, 3072}, kH200), ElementsAre(5, 10));
  EXPECT_THAT(split_gemm_shapes({2048, 768, 3072}, kA100), ElementsAre(10));
  EXPECT_THAT(split_gemm_shapes({4096, 768, 3072}, kH200), ElementsAre(10));
  EXPECT_THAT(split_gemm_shapes({8192, 768, 3072}, kH200), IsEmpty());
}

TEST(SplitGemmPlan, FitsEveryGpu) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      for (const std::size_t i : split_gemm_shapes({mlp.rows, mlp.dim, mlp.hidden}, gpu)) {
        const SplitGemmShape& shape = kSplitGemmShapes[i];
        const std::int64_t down = (mlp.rows + shape.rows - 1) / shape.rows;
        const std::int64_t across = (mlp.dim + shape.cols - 1) / shape.cols;
        EXPECT_LE(down * across * shape.splits, gpu.sm_count) << name;
        EXPECT_GT(mlp.hidden, (shape.splits - 1) * kSplitGemmStep) << name << ": a part for each";
      }
    }
  }
}

TEST(SplitGemmPlan, GivesEveryBlockAPartOfK) {
  EXPECT_THAT(split_gemm_shapes({8, 64, 256}, kH200), SizeIs(kSplitGemmShapes.size()));
  EXPECT_THAT(split_gemm_shapes({8, 64, 192}, kH200), ElementsAre(3, 4, 5, 6, 9, 10));
  EXPECT_THAT(split_gemm_shapes({8, 64, 72}, kH200), ElementsAre(3, 4, 5, 6, 9, 10));
  EXPECT_THAT(split_gemm_shapes({8, 64, 64}, kH200), ElementsAre(5, 10));
}

TEST(SplitGemmPlan, AShapeIsOneLineOfText) {
  EXPECT_EQ(split_gemm_text(1), "split_gemm_sm90: tiles of 128 x 48, k over 4 blocks");
  EXPECT_EQ(split_gemm_text(5), "split_gemm_sm90: tiles of 128 x 96");
}

}  // namespace
}  // namespace fusegate::kernels
