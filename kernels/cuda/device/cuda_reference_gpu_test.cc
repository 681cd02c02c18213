// The GPU's reference and random numbers against the CPU's, which are plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract/host_reference.h"
#include "kernels/contract/number_format.h"
#include "kernels/contract/random.h"
#include "kernels/cuda/device/cuda_reference.h"
#include "kernels/cuda/device/gpu_test_fixture.h"

namespace fusegate::kernels {
namespace {

class OnGpu : public GpuTest {
 protected:
  // A tensor of random numbers on the GPU, and the same on the host.
  struct Both {
    Tensor gpu;
    Bytes bytes;
    Tensor host;
  };
  Both random_on_both(std::int64_t rows, std::int64_t cols, Dtype dtype, std::uint64_t seed) {
    Both both{random(rows, cols, dtype, 2.0, seed), {}, {}};
    both.bytes = bytes(both.gpu);
    both.host = {both.bytes.data(), {rows, cols}, dtype};
    return both;
  }
  std::vector<double> to_host(const double* from, std::int64_t count) {
    std::vector<double> host(static_cast<std::size_t>(count));
    device_->copy_to_host(from, std::as_writable_bytes(std::span(host)));
    return host;
  }
};

// Small and large ones, so that all dtypes round and some saturate.
TEST_F(OnGpu, FillsWithTheNumbersThatTheHostWouldMake) {
  for (const Dtype dtype : all_dtypes()) {
    for (const Fill& fill : {Fill::uniform(2), Fill::uniform(1e-3), Fill::normal(300, 7),
                             Fill::integers(-100, 100), Fill::constant(2.5)}) {
      const Tensor x = tensor(37, 53, dtype);
      device_->fill(x, fill, 7);
      const Bytes seen = bytes(x);
      const FillNumbers numbers(fill);
      for (std::int64_t i = 0; i < x.count(); ++i) {
        std::uint64_t expected = 0;
        store_element(&expected, dtype, 0, numbers.at(7, static_cast<std::uint64_t>(i)));
        ASSERT_EQ(load_element(seen.data(), dtype, i), load_element(&expected, dtype, 0))
            << dtype_name(dtype) << ", " << static_cast<int>(fill.kind) << ": " << i;
      }
    }
  }
}

TEST_F(OnGpu, WidensAndComparesEveryDtype) {
  HostReference host;
  for (const Dtype dtype : all_dtypes()) {
    SCOPED_TRACE(dtype_name(dtype));
    const Tensor x = tensor(13, 7, dtype);
    device_->fill(x, Fill::normal(20), 3);
    Bytes stored = bytes(x);
    const Tensor on_host{stored.data(), x.shape, dtype};
    std::vector<double> expected(static_cast<std::size_t>(x.count()));
    host.widen(on_host, expected.data());
    double* const wide = widened(x);
    EXPECT_EQ(to_host(wide, x.count()), expected);
    EXPECT_EQ(device_->reference_math().compare(x, wide).relative(), 0);
    expected[5] += 1;
    expected[6] = std::nan("");
    device_->copy_to_device(std::as_bytes(std::span(expected)), wide);
    const ErrorNorms seen = device_->reference_math().compare(x, wide);
    EXPECT_NEAR(seen.difference, 1, 1e-9);
    EXPECT_EQ(seen.bad_reference, 1);
    EXPECT_EQ(host.compare(on_host, expected.data()).bad_reference, 1);
  }
}

TEST_F(OnGpu, DigestsDifferForAChangedByteAndAMovedOne) {
  const Tensor x = random(65, 33, Dtype::kBf16, 2.0, 5);
  const std::uint64_t before = device_->digest(x);
  EXPECT_EQ(device_->digest(x), before);
  Bytes changed = bytes(x);
  changed.back() ^= std::byte{1};
  device_->copy_to_device(changed, x.data);
  EXPECT_NE(device_->digest(x), before);
  changed.back() ^= std::byte{1};
  std::swap(changed[0], changed[1]);
  ASSERT_NE(changed[0], changed[1]);
  device_->copy_to_device(changed, x.data);
  EXPECT_NE(device_->digest(x), before);
}

TEST_F(OnGpu, ReferenceAgreesWithTheHosts) {
  constexpr std::int64_t kM = 37, kN = 53, kK = 129;
  const Both x = random_on_both(kM, kK, Dtype::kBf16, 1);
  const Both w = random_on_both(kN, kK, Dtype::kBf16, 2);
  const Both bias = random_on_both(1, kN, Dtype::kFp16, 3);
  const auto compute = [&](ReferenceMath& math, const Tensor& x, const Tensor& w,
                           const Tensor& bias, double* xd, double* wd, double* bd, double* out) {
    math.widen(x, xd);
    math.widen(w, wd);
    math.widen(bias, bd);
    math.matmul(xd, wd, out, kM, kN, kK);
    math.add_bias(out, bd, kM, kN);
    for (const Activation& activation : kActivations) math.gate(activation, out, out, out, kM * kN);
  };
  double* const gpu_out = doubles(kM * kN);
  compute(device_->reference_math(), x.gpu, w.gpu, bias.gpu, doubles(kM * kK), doubles(kN * kK),
          doubles(kN), gpu_out);
  std::vector<double> xd(kM * kK), wd(kN * kK), bd(kN), expected(kM * kN);
  HostReference host;
  compute(host, x.host, w.host, bias.host, xd.data(), wd.data(), bd.data(), expected.data());
  const std::vector<double> seen = to_host(gpu_out, kM * kN);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(seen[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
  }
}

TEST_F(OnGpu, TransposesAndPassesBackwardAsTheHostDoes) {
  constexpr std::int64_t kRows = 37, kCols = 53, kCount = kRows * kCols;
  double *const g = widened(random(kRows, kCols, Dtype::kBf16, 3.0, 1)), *const u = widened(random(
                                                                             kRows, kCols,
                                                                             Dtype::kBf16, 2.0, 2));
  double *const dg = doubles(kCount), *const du = doubles(kCount), *const turned = doubles(kCount);
  const std::vector<double> host_g = to_host(g, kCount), host_u = to_host(u, kCount);
  std::vector<double> host_dg(kCount), host_du(kCount), host_turned(kCount);
  ReferenceMath& math = device_->reference_math();
  for (const Activation& activation : kActivations) {
    math.gate_backward(activation, {.g = g, .u = u, .dh = u, .dg = dg, .du = du}, kCount);
    math.transpose(dg, turned, kRows, kCols);
    HostReference host;
    host.gate_backward(activation,
                       {.g = host_g.data(),
                        .u = host_u.data(),
                        .dh = host_u.data(),
                        .dg = host_dg.data(),
                        .du = host_du.data()},
                       kCount);
    host.transpose(host_dg.data(), host_turned.data(), kRows, kCols);
    const std::vector<double> seen = to_host(turned, kCount), seen_du = to_host(du, kCount);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_NEAR(seen[i], host_turned[i], 1e-12) << activation.name << ": " << i;
      ASSERT_NEAR(seen_du[i], host_du[i], 1e-12) << activation.name << ": " << i;
    }
  }
}

TEST_F(OnGpu, Copies) {
  const Both x = random_on_both(65, 33, Dtype::kBf16, 5);
  double* const from = widened(x.gpu);
  double* const to = doubles(x.host.count());
  device_->reference_math().copy(from, to, x.host.count());
  EXPECT_EQ(to_host(to, x.host.count()), to_host(from, x.host.count()));
}

TEST_F(OnGpu, AppliesScalesAsTheHostDoes) {
  const Both x = random_on_both(65, 33, Dtype::kBf16, 5);
  for (const ScaleBlocks& blocks : {ScaleBlocks{65, 33}, {1, 33}, {1, 8}, {16, 8}}) {
    const auto shape = blocks.shape(65, 33);
    double* const scales = widened(random(shape[0], shape[1], Dtype::kFp32, 2.0, 6));
    double* const seen = widened(x.gpu);
    std::vector<double> expected = to_host(seen, 65 * 33);
    HostReference().apply_scales(blocks, to_host(scales, shape[0] * shape[1]).data(),
                                 expected.data(), 65, 33);
    device_->reference_math().apply_scales(blocks, scales, seen, 65, 33);
    EXPECT_EQ(to_host(seen, 65 * 33), expected);
  }
}

TEST_F(OnGpu, ComparesAsTheHostDoes) {
  const Both out = random_on_both(65, 33, Dtype::kBf16, 5);
  const std::int64_t count = out.host.count();
  double* const reference = widened(random(65, 33, Dtype::kBf16, 2.0, 6));
  const std::vector<double> host_reference = to_host(reference, count);
  const ErrorNorms seen = device_->reference_math().compare(out.gpu, reference);
  const ErrorNorms expected = HostReference().compare(out.host, host_reference.data());
  EXPECT_NEAR(seen.difference, expected.difference, 1e-9 * expected.difference);
  EXPECT_NEAR(seen.reference, expected.reference, 1e-9 * expected.reference);
  EXPECT_EQ(seen.not_finite, 0);
  device_->poison(out.gpu);
  EXPECT_EQ(device_->reference_math().compare(out.gpu, reference).not_finite, count);
}

void expect_near(const GroupErrors& seen, const GroupErrors& expected) {
  EXPECT_NEAR(seen.difference, expected.difference, 1e-9 * expected.difference);
  EXPECT_NEAR(seen.scaled, expected.scaled, 1e-9 * expected.scaled);
  EXPECT_NEAR(seen.along, expected.along,
              1e-9 * std::sqrt(expected.difference * expected.reference));
  EXPECT_NEAR(seen.reference, expected.reference, 1e-9 * expected.reference);
  EXPECT_NEAR(seen.noise, expected.noise, 1e-9 * expected.noise);
}

// Around the tiles' edges, with fewer rows or columns than a group has, and with one NaN.
TEST_F(OnGpu, SumsUpErrorsByTileRowAndColumnAsTheHostDoes) {
  for (const auto& [rows, cols] : {std::pair(1, 5000), {130, 65}, {64, 64}, {300, 7}, {7, 700}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    Both out = random_on_both(rows, cols, Dtype::kBf16, 5);
    store_element(out.bytes.data(), Dtype::kBf16, out.host.count() / 3, NAN);
    device_->copy_to_device(out.bytes, out.gpu.data);
    double* const reference = widened(random(rows, cols, Dtype::kBf16, 2.0, 6));
    const auto on_host = to_host(reference, out.host.count());
    const ErrorScale scale{.all = 0.5, .own = 1e-3, .least = 1e-6};
    const Errors seen = device_->reference_math().errors(out.gpu, reference, scale);
    const Errors expected = HostReference().errors(out.host, on_host.data(), scale);
    ASSERT_EQ(seen.tiles.size(), expected.tiles.size());
    ASSERT_EQ(seen.rows.size(), expected.rows.size());
    for (std::size_t i = 0; i < seen.tiles.size(); ++i) {
      expect_near(seen.tiles[i].sums, expected.tiles[i].sums);
      EXPECT_EQ(seen.tiles[i].largest_at, expected.tiles[i].largest_at);
      EXPECT_EQ(seen.tiles[i].not_finite, expected.tiles[i].not_finite);
    }
    for (std::size_t i = 0; i < seen.rows.size(); ++i) expect_near(seen.rows[i], expected.rows[i]);
    double* const other = widened(random(rows, cols, Dtype::kBf16, 2.0, 7));
    const auto other_on_host = to_host(other, out.host.count());
    const Errors spread = device_->reference_math().spread(other, out.gpu, reference, 1);
    const Errors of_host =
        HostReference().spread(other_on_host.data(), out.host, on_host.data(), 1);
    ASSERT_EQ(spread.columns.size(), of_host.columns.size());
    for (std::size_t i = 0; i < spread.columns.size(); ++i) {
      EXPECT_NEAR(spread.columns[i], of_host.columns[i], 1e-9 * of_host.columns[i]);
    }
  }
}

TEST_F(OnGpu, PerturbsAsTheHostDoes) {
  double* const gpu = widened(random(65, 33, Dtype::kBf16, 2.0, 6));
  std::vector<double> host = to_host(gpu, 65 * 33);
  device_->reference_math().perturb(gpu, 65 * 33, 1e-2, 9);
  HostReference().perturb(host.data(), 65 * 33, 1e-2, 9);
  const std::vector<double> seen = to_host(gpu, 65 * 33);
  for (std::size_t i = 0; i < host.size(); ++i) EXPECT_NEAR(seen[i], host[i], 1e-15 * 4);
}

TEST_F(OnGpu, SaysHowMuchMemoryThereIsWhenThereIsNotEnough) {
  EXPECT_THROW(device_->allocate(std::size_t{1} << 50), DeviceError);
  EXPECT_NO_THROW(device_->synchronize());
}

}  // namespace
}  // namespace fusegate::kernels
