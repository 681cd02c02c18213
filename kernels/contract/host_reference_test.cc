#include "kernels/contract/host_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace fusegate::kernels {
namespace {

TEST(HostReference, MultipliesByTheWeightAsStored) {
  // x [2, 3], w [2, 3]: out[m, n] is the dot product of row m of x and row n of w.
  const std::vector<double> x{1, 2, 3, 4, 5, 6}, w{1, 0, 1, 0, 2, 0};
  std::vector<double> out(4);
  HostReference().matmul(x.data(), w.data(), out.data(), 2, 2, 3);
  EXPECT_EQ(out, (std::vector<double>{4, 4, 10, 10}));
}

TEST(HostReference, SumsEveryElementOfAnyLength) {
  for (const int k : {1, 7, 8, 9, 17}) {
    std::vector<double> ones(static_cast<std::size_t>(k), 1.0), out(1);
    HostReference().matmul(ones.data(), ones.data(), out.data(), 1, 1, k);
    EXPECT_EQ(out[0], k);
  }
}

TEST(HostReference, Transposes) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  std::vector<double> out(6);
  HostReference().transpose(x.data(), out.data(), 2, 3);
  EXPECT_EQ(out, (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(HostReference, PassesAUnitBackward) {
  const Activation square{.reference = [](double x) { return x * x; },
                          .slope = [](double x) { return 2 * x; }};
  const std::vector<double> g{1, 3}, u{5, 7}, dh{2, 1};
  std::vector<double> dg(2), du(2);
  HostReference().gate_backward(
      square, {.g = g.data(), .u = u.data(), .dh = dh.data(), .dg = dg.data(), .du = du.data()}, 2);
  EXPECT_EQ(dg, (std::vector<double>{20, 42}));
  EXPECT_EQ(du, (std::vector<double>{2, 9}));
}

TEST(HostReference, Copies) {
  const std::vector<double> x{1, -2, 3};
  std::vector<double> out(3);
  HostReference().copy(x.data(), out.data(), 3);
  EXPECT_EQ(out, x);
}

TEST(HostReference, AddsTheBiasToEveryRow) {
  std::vector<double> x{1, 2, 3, 4};
  const std::vector<double> bias{10, 20};
  HostReference().add_bias(x.data(), bias.data(), 2, 2);
  EXPECT_EQ(x, (std::vector<double>{11, 22, 13, 24}));
}

TEST(HostReference, AppliesAScaleToItsBlock) {
  std::vector<double> x(3 * 5, 1);
  const ScaleBlocks blocks{2, 3};
  EXPECT_EQ(blocks.shape(3, 5), (std::vector<std::int64_t>{2, 2}));
  const std::vector<double> scales{1, 2, 3, 4};
  HostReference().apply_scales(blocks, scales.data(), x.data(), 3, 5);
  EXPECT_EQ(x, (std::vector<double>{1, 1, 1, 2, 2, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4}));
}

TEST(HostReference, ComparesByFrobeniusNorm) {
  std::vector<float> out{3, 4};
  const std::vector<double> reference{3, 0};
  const ErrorNorms norms =
      HostReference().compare({out.data(), {2}, Dtype::kFp32}, reference.data());
  EXPECT_DOUBLE_EQ(norms.difference, 4);
  EXPECT_DOUBLE_EQ(norms.reference, 3);
  EXPECT_DOUBLE_EQ(norms.relative(), 4.0 / 3);
}

TEST(HostReference, NeverPassesWhatIsNotFinite) {
  std::vector<float> out{1, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<double> reference{1, 1};
  const ErrorNorms norms =
      HostReference().compare({out.data(), {2}, Dtype::kFp32}, reference.data());
  EXPECT_EQ(norms.not_finite, 1);
  EXPECT_TRUE(std::isinf(norms.relative()));
}

TEST(HostReference, ZeroAgainstZeroIsRightAndAnythingElseAgainstZeroIsNot) {
  std::vector<float> out{0};
  const std::vector<double> zero{0};
  EXPECT_EQ(HostReference().compare({out.data(), {1}, Dtype::kFp32}, zero.data()).relative(), 0);
  out[0] = 1;
  EXPECT_TRUE(
      std::isinf(HostReference().compare({out.data(), {1}, Dtype::kFp32}, zero.data()).relative()));
}

}  // namespace
}  // namespace fusegate::kernels
