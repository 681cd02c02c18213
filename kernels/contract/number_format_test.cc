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

// Values of table 1 of arXiv:2209.05433.
TEST(Fp8, HasTheFormatsNumbers) {
  EXPECT_EQ(fp8_to_float(0x7e, kE4m3), 448.0f);
  EXPECT_EQ(fp8_to_float(0x08, kE4m3), 0x1p-6f);
  EXPECT_EQ(fp8_to_float(0x01, kE4m3), 0x1p-9f);
  EXPECT_EQ(fp8_to_float(0x81, kE4m3), -0x1p-9f);
  EXPECT_TRUE(std::isnan(fp8_to_float(0x7f, kE4m3)));
  EXPECT_EQ(fp8_to_float(0x7b, kE5m2), 57344.0f);
  EXPECT_EQ(fp8_to_float(0x04, kE5m2), 0x1p-14f);
  EXPECT_EQ(fp8_to_float(0x01, kE5m2), 0x1p-16f);
  EXPECT_TRUE(std::isinf(fp8_to_float(0x7c, kE5m2)));
  EXPECT_TRUE(std::isnan(fp8_to_float(0x7d, kE5m2)));
}

TEST(Fp8, ReadsBackWhatItWrites) {
  for (const Fp8Format& format : {kE4m3, kE5m2}) {
    for (int code = 0; code < 256; ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const float value = fp8_to_float(bits, format);
      if (!std::isfinite(value)) continue;
      EXPECT_EQ(float_to_fp8(value, format), bits) << code;
    }
  }
}

// Between each two neighbours: the nearer one, and of a tie the one with an even code.
TEST(Fp8, RoundsToNearestEven) {
  for (const Fp8Format& format : {kE4m3, kE5m2}) {
    for (int code = 0; fp8_to_float(static_cast<std::uint8_t>(code + 1), format) <= format.largest;
         ++code) {
      const float low = fp8_to_float(static_cast<std::uint8_t>(code), format);
      const float high = fp8_to_float(static_cast<std::uint8_t>(code + 1), format);
      const float middle = (low + high) / 2;
      const int even = code % 2 == 0 ? code : code + 1;
      EXPECT_EQ(float_to_fp8(middle, format), even) << code;
      EXPECT_EQ(float_to_fp8(std::nextafter(middle, 0.0f), format), code);
      EXPECT_EQ(float_to_fp8(-std::nextafter(middle, high), format), 0x80 + code + 1);
    }
  }
}

TEST(Fp8, Saturates) {
  for (const Fp8Format& format : {kE4m3, kE5m2}) {
    EXPECT_EQ(fp8_to_float(float_to_fp8(1e9f, format), format), format.largest);
    EXPECT_EQ(fp8_to_float(float_to_fp8(-1e9f, format), format), -format.largest);
    EXPECT_TRUE(std::isnan(fp8_to_float(float_to_fp8(std::nanf(""), format), format)));
  }
}

TEST(Integers, AreRoundedAndSaturate) {
  std::int8_t small = 0;
  const auto stored = [&](double value) {
    store_element(&small, Dtype::kInt8, 0, value);
    return load_element(&small, Dtype::kInt8, 0);
  };
  EXPECT_EQ(stored(2.5), 2);
  EXPECT_EQ(stored(3.5), 4);
  EXPECT_EQ(stored(-1000), -128);
  EXPECT_EQ(stored(1000), 127);
  std::int32_t large = 0;
  store_element(&large, Dtype::kInt32, 0, 2147483646.0);  // which no float holds
  EXPECT_EQ(large, 2147483646);
}

TEST(Poison, IsNaNInEveryFloatingPointDtype) {
  const std::uint64_t ones = ~std::uint64_t{0};
  for (const Dtype dtype : all_dtypes()) {
    const double value = load_element(&ones, dtype, 0);
    const double of_integer = dtype == Dtype::kUint8 ? 255 : -1;
    EXPECT_TRUE(is_integer(dtype) ? value == of_integer : std::isnan(value)) << dtype_name(dtype);
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

TEST(RandomNormal, HasMeanZeroAndDeviationOne) {
  double sum = 0, squares = 0, beyond_two = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = random_normal(42, static_cast<std::uint64_t>(i));
    sum += value;
    squares += value * value;
    beyond_two += std::abs(value) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(beyond_two / kCount, 0.0455, 0.004);  // of a normal distribution
}

TEST(FillNumbers, AreWhatTheFillSays) {
  const auto numbers = [](const Fill& fill) { return FillNumbers(fill); };
  EXPECT_EQ(numbers(Fill::constant(2.5)).at(1, 7), 2.5);
  EXPECT_EQ(numbers(Fill::uniform(3)).at(1, 7), 3 * random_uniform(1, 7));
  EXPECT_NEAR(numbers(Fill::normal(2, 100)).at(1, 7), 100 + 2 * random_normal(1, 7), 1e-5);
  int seen[5] = {};
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double value = numbers(Fill::integers(-2, 2)).at(9, i);
    ASSERT_EQ(value, std::nearbyint(value));
    ASSERT_LE(std::abs(value), 2);
    ++seen[static_cast<int>(value) + 2];
  }
  for (const int count : seen) EXPECT_NEAR(count, 2000, 200);
}

}  // namespace
}  // namespace fusegate::kernels
