#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::kernels {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kSms = 132;  // an H200's

TEST(SplitGemmPlan, TriesShapesWhoseBlocksAllRunAtOnce) {
  EXPECT_THAT(split_gemm_shapes({128, 768, 3072}, kSms), ElementsAre(0, 1, 2, 3, 4));
  // 192 and 128 blocks: the latter has room on 132 SMs and not on 108.
  EXPECT_THAT(split_gemm_shapes({512, 768, 3072}, kSms), ElementsAre(2, 3, 4));
  EXPECT_THAT(split_gemm_shapes({512, 768, 3072}, 108), ElementsAre(2, 4));
  EXPECT_THAT(split_gemm_shapes({4096, 768, 3072}, kSms), IsEmpty());
}

TEST(SplitGemmPlan, GivesEveryBlockAPartOfK) {
  EXPECT_THAT(split_gemm_shapes({8, 64, 256}, kSms), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(split_gemm_shapes({8, 64, 192}, kSms), ElementsAre(2, 4));
  EXPECT_THAT(split_gemm_shapes({8, 64, 72}, kSms), ElementsAre(2, 4));
  EXPECT_THAT(split_gemm_shapes({8, 64, 64}, kSms), IsEmpty());
}

TEST(SplitGemmPlan, TellsAShapeInALine) {
  EXPECT_EQ(split_gemm_text(1), "split_gemm_sm90: tiles of 128 x 64, k over 4 blocks");
}

}  // namespace
}  // namespace fusegate::kernels
