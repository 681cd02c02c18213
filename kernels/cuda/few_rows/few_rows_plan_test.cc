#include "kernels/cuda/few_rows/few_rows_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "kernels/cuda/device/known_gpus.h"

namespace fusegate::kernels {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(FewRowsShapes, AreSortedAndReachTheMostRows) {
  for (std::size_t i = 1; i < kFewRowsShapes.size(); ++i) {
    const FewRowsShape &before = kFewRowsShapes[i - 1], &shape = kFewRowsShapes[i];
    EXPECT_LT(std::tuple(before.x_tiles, before.w_sets, -before.depth),
              std::tuple(shape.x_tiles, shape.w_sets, -shape.depth));
    EXPECT_TRUE(shape.w_sets == 1 || shape.w_sets % 2 == 0);
  }
  EXPECT_EQ(kFewRowsShapes.back().x_rows(), kMostFewRows);
}

TEST(FewRowsPlan, ThereIsOneForAnyFewRows) {
  for (std::int64_t rows = 1; rows <= kMostFewRows; ++rows) {
    for (const int weights : {1, 2}) {
      for (const std::int64_t cols : {8, 24, 136, 768, 14336}) {
        const FewRowsSize size{rows, cols, 776, weights};
        const FewRowsPlan plan = plan_few_rows(size, kH200);
        const FewRowsShape& shape = kFewRowsShapes[plan.shape];
        EXPECT_TRUE(fits(shape, size));
        EXPECT_TRUE(shape.x_tiles == 1 || shape.x_rows() < 2 * rows) << "more rows than needed";
        EXPECT_LE(plan.cols_per_block * weights, shape.w_rows());
        EXPECT_GE(plan.blocks * plan.cols_per_block, cols);
        EXPECT_LT((plan.blocks - 1) * plan.cols_per_block, cols);
        EXPECT_GE(plan.warps, 1);
        EXPECT_LE(plan.warps, shape.most_warps);
      }
    }
  }
}

TEST(FewRowsPlan, KeepsEverySmBusyWhereColumnsAreFew) {
  // 768 columns by 8 would leave 36 of 132 SMs without.
  const FewRowsPlan down = plan_few_rows({1, 768, 3072, 1}, kH200);
  EXPECT_EQ(down.cols_per_block, 6);
  EXPECT_EQ(down.blocks, 128);
  const FewRowsPlan gate_up = plan_few_rows({1, 3072, 768, 2}, kH200);
  EXPECT_EQ(gate_up.cols_per_block, 8);
  EXPECT_EQ(gate_up.blocks, 384);
  // By 6, an A100's 108 SMs would take 128 blocks in two rounds.
  const FewRowsPlan on_a100 = plan_few_rows({1, 768, 3072, 1}, kA100);
  EXPECT_EQ(on_a100.cols_per_block, 8);
  EXPECT_EQ(on_a100.blocks, 96);
}

// Both products of an MLP, by every plan that is measured.
TEST(FewRowsPlan, FitsEveryGpuAndCoversEveryColumnOnce) {
  for (const auto& [name, gpu] : kKnownGpus) {
    for (const MlpSize& mlp : kMlpSizes) {
      if (mlp.rows > kMostFewRows) continue;
      for (const FewRowsSize& size :
           {FewRowsSize{mlp.rows, mlp.hidden, mlp.dim, 2}, {mlp.rows, mlp.dim, mlp.hidden, 1}}) {
        for (const FewRowsPlan& plan : few_rows_plans(size, gpu)) {
          SCOPED_TRACE(testing::Message() << name << ", " << plan_text(plan));
          EXPECT_GE(std::int64_t{plan.blocks} * plan.cols_per_block, size.cols);
          EXPECT_LT(std::int64_t{plan.blocks - 1} * plan.cols_per_block, size.cols);
          EXPECT_GE(plan.warps, 1);
          EXPECT_LE(plan.warps, kFewRowsShapes[plan.shape].most_warps);
        }
      }
    }
  }
}

// Every block reads all of x.
TEST(FewRowsPlan, GivesABlockMoreColumnsWhereXIsMuchOfWhatItReads) {
  int last = 0;
  for (const std::int64_t rows : {1, 8, 64}) {
    const int cols = plan_few_rows({rows, 14336, 4096, 2}, kH200).cols_per_block;
    EXPECT_GT(cols, last);
    last = cols;
  }
}

TEST(FewRowsPlan, TakesNoMoreWarpsThanHaveSomethingToDo) {
  EXPECT_EQ(plan_few_rows({1, 768, 8, 1}, kH200).warps, 1);
  // 24 chunks, 4 at once: all are on their way from the start.
  EXPECT_EQ(plan_few_rows({1, 3072, 768, 2}, kH200, 1).warps, 6);
  // 17 turns go into two rounds of 9 as well as of 16.
  EXPECT_EQ(plan_few_rows({1, 64, 17 * 128, 1}, kH200, 1).warps, 9);
}

TEST(FewRowsPlan, HasFewerWarpsABlockWhereSeveralShareAnSm) {
  EXPECT_EQ(plan_few_rows({1, 2048, 8192, 1}, kH200, 1).warps, 16);
  EXPECT_EQ(plan_few_rows({1, 14336, 8192, 2}, kH200, 1).warps, 8);
}

TEST(FewRowsPlan, IsNearTheCheapestOfItsRows) {
  for (const std::int64_t rows : {1, 8, 16, 64}) {
    const FewRowsSize size{rows, 3072, 768, 2};
    const FewRowsPlan best = plan_few_rows(size, kH200);
    for (std::size_t i = 0; i < kFewRowsShapes.size(); ++i) {
      const FewRowsShape& shape = kFewRowsShapes[i];
      if (shape.x_tiles != kFewRowsShapes[best.shape].x_tiles || !fits(shape, size)) continue;
      EXPECT_LE(best.cost, plan_few_rows(size, kH200, i).cost / 0.95);
    }
  }
}

TEST(FewRowsPlan, OffersTheCheapestFirstAndNoneTwice) {
  for (const FewRowsSize& size :
       {FewRowsSize{1, 768, 3072, 1}, {8, 3072, 768, 2}, {64, 768, 3072}}) {
    const std::vector<FewRowsPlan> plans = few_rows_plans(size, kH200);
    EXPECT_EQ(plans.front(), plan_few_rows(size, kH200));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      EXPECT_TRUE(fits(kFewRowsShapes[plans[i].shape], size));
      EXPECT_EQ(kFewRowsShapes[plans[i].shape].x_tiles,
                kFewRowsShapes[plans.front().shape].x_tiles);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(plans[i] == plans[j]);
    }
  }
  // Of 96 and of 128 blocks, whose columns take all of a set of weights or keep more SMs busy.
  EXPECT_THAT(few_rows_plans({1, 768, 3072, 1}, kH200),
              testing::IsSupersetOf({testing::Field(&FewRowsPlan::blocks, 96),
                                     testing::Field(&FewRowsPlan::blocks, 128)}));
}

TEST(FewRowsPlan, SaysWhatItCannotDo) {
  const auto expect_refused = [](const FewRowsSize& size, const std::string& why) {
    EXPECT_THAT([&] { plan_few_rows(size, kH200); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
  };
  expect_refused({65, 768, 768, 1}, "rows is 65, must be a multiple of 1 from 1 to 64");
  expect_refused({0, 768, 768, 1}, "rows is 0");
  expect_refused({1, 768, 12, 1}, "k is 12");
  expect_refused({1, 768, (1 << 24) + 8, 1}, "k is");
  expect_refused({1, 0, 8, 1}, "cols");
  expect_refused({1, 1LL << 31, 8, 1}, "cols");
}

TEST(FewRowsPlan, SaysWhatAShapeCannotDo) {
  EXPECT_THAT(
      [] {
        plan_few_rows({9, 768, 768, 1}, kH200, 0);
      },
      ThrowsMessage<std::invalid_argument>(
          testing::AllOf(HasSubstr("8 rows"), HasSubstr("9 rows"))));
  // One set of weights is not two.
  EXPECT_THAT(
      [] {
        plan_few_rows({1, 768, 768, 2}, kH200, 0);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("2 weights")));
}

TEST(FewRowsPlan, IsOneLineOfText) {
  EXPECT_EQ(plan_text(plan_few_rows({1, 768, 3072, 1}, kH200)),
            "few_rows: 128 blocks of 12 warps, 6 columns each, x in 1 x 8 rows, weights in 1 x 8, "
            "8 chunks "
            "ahead");
}

}  // namespace
}  // namespace fusegate::kernels
