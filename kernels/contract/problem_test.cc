#include "kernels/contract/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace fusegate::kernels {
namespace {

TEST(Problem, HasAxesOfAnyNamesAndNamesThemWhereOneIsMissing) {
  const Problem problem{Dtype::kBf16, {{"heads", 16}, {"kv", 4096}}};
  EXPECT_EQ(problem.at("heads"), 16);
  EXPECT_EQ(problem.at("kv"), 4096);
  EXPECT_EQ(problem_name(problem), "bf16/heads:16/kv:4096");
  const Problem named{Dtype::kBf16, {{"kind", 0, "gelu"}}};
  EXPECT_EQ(problem_name(named), "bf16/kind:gelu");
  EXPECT_THAT([&] { named.at("kind"); },
              testing::ThrowsMessage<std::out_of_range>("axis 'kind' is gelu; expected a size"));
  EXPECT_THAT([&] { problem.at("seq"); }, testing::ThrowsMessage<std::out_of_range>(
                                              "no axis 'seq'; the problem has heads, kv"));
}

TEST(Dtype, HasANameAndASizeEach) {
  std::set<std::string_view> names;
  for (const Dtype dtype : all_dtypes()) {
    names.insert(dtype_name(dtype));
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_GE(dtype_bytes(dtype), 1u);
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2",
                                        "int64", "int32", "int16", "int8", "uint8"}));
  EXPECT_EQ(parse_dtype("fp12"), std::nullopt);
}

}  // namespace
}  // namespace fusegate::kernels
