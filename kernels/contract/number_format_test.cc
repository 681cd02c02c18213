#include "kernels/contract/number_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/contract/random.h"

namespace fusegate::kernels {
namespace {

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(float_to_bf16(1.0f), 0x3f80);
  // 1 + 2^-8 lies halfway between 1 and 1 + 2^-7: the even one is 1.
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f), 0x3f80);
  // 1 + 3 * 2^-8 lies halfway between 1 + 2^-7 and 1 + 2^-6: the even one is above.
  EXPECT_EQ(float_to_bf16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(float_to_bf16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);
}

TEST(Bf16, KeepsNaNAndInfinity) {
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(bf16_to_float(float_to_bf16(std::numeric_limits<float>::infinity()))));
}

TEST(Fp16, RoundsToElevenBits) {
  EXPECT_EQ(float_to_fp16(1.0f), 0x3c00);
  EXPECT_EQ(fp16_to_float(float_to_fp16(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(fp16_to_float(float_to_fp16(1.0f + 0x1p-10f)), 1.0f + 0x1p-10f);
}

TEST(Poison, IsNaNInEveryDtype) {
  const std::uint32_t ones = 0xffffffff;
  for (const Dtype dtype : {Dtype::kFp32, Dtype::kFp16, Dtype::kBf16}) {
    EXPECT_TRUE(std::isnan(load_element(&ones, dtype, 0))) << dtype_name(dtype);
  }
}

TEST(RandomUniform, FillsItsIntervalEvenly) {
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = random_uniform(42, static_cast<std::uint64_t>(i));
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.01);
  EXPECT_NE(random_uniform(42, 0), random_uniform(43, 0));
}

}  // namespace
}  // namespace fusegate::kernels
