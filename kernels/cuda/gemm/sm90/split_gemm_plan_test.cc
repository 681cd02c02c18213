#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/cuda/device/known_gpus.h"

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::size_t> shapes(const GemmSize& size, const GpuLimits& gpu = kH200) {
  return split_gemm_shapes(size, Dtype::kFp16, gpu);
}

TEST(SplitGemmPlan, TriesShapesWhoseBlocksAllRunAtOnce) {
  EXPECT_THAT(shapes({128, 768, 3072}), SizeIs(kSplitGemmShapesOfBoth));
  EXPECT_THAT(shapes({512, 768, 3072}), ElementsAre(3, 4, 5, 6, 9, 10));
  // One part of k is as good as none: 128 tiles have room on 132 SMs and not on 108.
  EXPECT_THAT(shapes({2048, 768, 3072}), ElementsAre(5, 10));
  EXPECT_THAT(shapes({2048, 768, 3072}, kA100), ElementsAre(10));
  EXPECT_THAT(shapes({4096, 768, 3072}), ElementsAre(10));
  EXPECT_THAT(shapes({8192, 768, 3072}), IsEmpty());
}

TEST(SplitGemmPlan, TriesMoreShapesInBf16) {
  const auto in_bf16 = [](std::int64_t rows, std::int64_t n) {
    return split_gemm_shapes({rows, n, 10240}, Dtype::kBf16, kH200);
  };
  EXPECT_THAT(in_bf16(8, 64), SizeIs(kSplitGemmShapes.size()));
  EXPECT_THAT(in_bf16(64, 2560), ElementsAre(3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17));
  EXPECT_THAT(in_bf16(256, 2304), ElementsAre(5, 6, 10, 16, 17));
}

TEST(SplitGemmPlan, FitsEveryGpu) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      for (const std::size_t i :
           split_gemm_shapes({mlp.rows, mlp.dim, mlp.hidden}, Dtype::kBf16, gpu)) {
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
  EXPECT_THAT(shapes({8, 64, 256}), SizeIs(kSplitGemmShapesOfBoth));
  EXPECT_THAT(shapes({8, 64, 192}), ElementsAre(3, 4, 5, 6, 9, 10));
  EXPECT_THAT(shapes({8, 64, 72}), ElementsAre(3, 4, 5, 6, 9, 10));
  EXPECT_THAT(shapes({8, 64, 64}), ElementsAre(5, 10));
}

TEST(SplitGemmPlan, AShapeIsOneLineOfText) {
  EXPECT_EQ(split_gemm_text(1), "split_gemm_sm90: tiles of 128 x 48, k over 4 blocks");
  EXPECT_EQ(split_gemm_text(5), "split_gemm_sm90: tiles of 128 x 96");
}

}  // namespace
}  // namespace fusegate::kernels
