#include "kernels/cuda/few_rows/gemv_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace fusegate::kernels {
namespace {

TEST(GemvPlan, CoversAllColumnsAndAllOfK) {
  for (const std::int64_t cols : {1, 8, 3080, 14336}) {
    for (const std::int64_t k : {8, 264, 3072, 14336}) {
      for (const GemvPlan& plan : gemv_plans(cols, k)) {
        const GemvShape& shape = kGemvShapes[plan.shape];
        EXPECT_GE(std::int64_t{plan.blocks} * shape.cols, cols);
        EXPECT_LT(std::int64_t{plan.blocks - 1} * shape.cols, cols);
        EXPECT_GE(plan.warps, 1);
        EXPECT_LE(plan.warps, kMostGemvWarps);
      }
    }
  }
}

TEST(GemvPlan, TakesAsFewWarpsAsGetThroughKInTheSameRounds) {
  // 3 chunks; 12; 17, which take two rounds of 9 as well as of 16, and three of 6.
  EXPECT_EQ(gemv_plans(3072, 768).at(0).warps, 3);
  EXPECT_EQ(gemv_plans(768, 3072).at(0).warps, 6);
  EXPECT_EQ(gemv_plans(768, 3072).at(1).warps, 12);
  EXPECT_EQ(gemv_plans(768, 17 * 256).at(0).warps, 6);
  EXPECT_EQ(gemv_plans(768, 17 * 256).at(1).warps, 9);
}

TEST(GemvPlan, SaysWhatItCannotDo) {
  for (const auto& [cols, k] : {std::pair<std::int64_t, std::int64_t>{0, 8},
                                {1LL << 31, 8},
                                {8, 0},
                                {8, 12},
                                {8, (1 << 24) + 8}}) {
    EXPECT_THROW(gemv_plans(cols, k), std::invalid_argument) << cols << " " << k;
  }
}

TEST(GemvPlan, IsOneLineOfText) {
  EXPECT_EQ(plan_text({.shape = 0, .blocks = 3584, .warps = 8}),
            "gemv: 3584 blocks of 8 warps, 4 columns each, 1 chunk ahead");
}

}  // namespace
}  // namespace fusegate::kernels
