// What the gelu-mul kernels write, to the bit: sizes that no pack divides, both rounding modes,
// addresses, and kernels that are placed before the one ahead of them has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/contract/number_format.h"
#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/pointwise/pointwise.h"

namespace fusegate::kernels {
namespace {

const Implementation* find_gated(const Activation& activation, const std::string& name) {
  for (const Implementation& i : implementations()) {
    if (i.operation == activation.unit && i.name == name && i.device == "cuda") return &i;
  }
  return nullptr;
}

constexpr double kScale = 3.0;  // activations bend within it
constexpr const Activation& kGelu = kActivationOf<GeluTanh>;

class PointwiseOnGpu : public GpuTest {
 protected:
  // What the implementation writes; a guard after its output must stay as it was.
  Bytes output_of(const Activation& activation, const std::string& name, const Tensor& g,
                  const Tensor& u) {
    constexpr std::int64_t kTail = 64;
    const Tensor guarded = tensor(1, g.count() + kTail, g.dtype);
    device_->poison(guarded);
    const Tensor out{guarded.data, g.rows, g.cols, g.dtype};
    const std::vector<Tensor> in{g, u};
    const PreparedKernel kernel =
        find_gated(activation, name)->prepare(*device_, {1, g.rows, 1, g.cols, g.dtype}, in, out);
    kernel.launch();
    Bytes all = bytes(guarded);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(out.bytes());
    EXPECT_TRUE(std::all_of(end, all.end(), [](std::byte b) { return b == kGuard; }))
        << name << " writes past its output of " << g.rows << 'x' << g.cols;
    all.erase(end, all.end());
    return all;
  }

  void expect_same_bits(const std::string& one, const std::string& other) {
    for (const Activation& activation : kActivations) expect_same_bits(activation, one, other);
  }
  void expect_same_bits(const Activation& activation, const std::string& one,
                        const std::string& other) {
    if (find_gated(activation, one) == nullptr) GTEST_SKIP() << "not built: " << one;
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const auto& [rows, cols] : {std::pair{1, 1},
                                       {1, 7},
                                       {1, 8},
                                       {1, 9},
                                       {3, 5},
                                       {1, 2047},
                                       {1, 2049},
                                       {8, 3073},
                                       {33, 3073},
                                       {128, 3072},
                                       {129, 11008},
                                       {2048, 6146},
                                       {16385, 1025},  // from here on by the largest blocks
                                       {16384, 1024}}) {
        const Tensor g = random(rows, cols, dtype, kScale, 1);
        const Tensor u = random(rows, cols, dtype, kScale, 2);
        EXPECT_EQ(output_of(activation, one, g, u), output_of(activation, other, g, u))
            << activation.name << ' ' << dtype_name(dtype) << ' ' << rows << 'x' << cols;
        memory_.clear();
      }
    }
  }
};

TEST_F(PointwiseOnGpu, EagerRoundingWritesTheBitsOfTwoKernels) {
  expect_same_bits("fused_eager_rounding", "unfused");
}

TEST_F(PointwiseOnGpu, SpecializedWritesTheBitsOfTheGeneralKernel) {
  expect_same_bits("fused_specialized", "fused");
}

// Of got's elements, the share that is not the host's: gelu(g) in double, rounded to the dtype
// before the product or not, then the product, rounded.
double share_that_differs(std::span<const std::byte> g, std::span<const std::byte> u,
                          std::span<const std::byte> got, Dtype dtype, bool round_gelu) {
  const auto count = static_cast<std::int64_t>(got.size() / dtype_bytes(dtype));
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    double gelu = kGelu.reference(load_element(g.data(), dtype, i));
    std::uint32_t rounded = 0;
    if (round_gelu) {
      store_element(&rounded, dtype, 0, static_cast<float>(gelu));
      gelu = load_element(&rounded, dtype, 0);
    }
    store_element(&rounded, dtype, 0, static_cast<float>(gelu * load_element(u.data(), dtype, i)));
    differing += load_element(&rounded, dtype, 0) != load_element(got.data(), dtype, i);
  }
  return static_cast<double>(differing) / static_cast<double>(count);
}

TEST_F(PointwiseOnGpu, RoundsWhereItSays) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    const Tensor g = random(64, 1031, dtype, kScale, 3), u = random(64, 1031, dtype, kScale, 4);
    const Bytes host_g = bytes(g), host_u = bytes(u);
    const Bytes once = output_of(kGelu, "fused", g, u),
                twice = output_of(kGelu, "fused_eager_rounding", g, u);
    // What fp32 is off by moves few elements to another side of a rounding; a rounding more or
    // less moves many.
    constexpr double kFew = 0.01, kMany = 0.1;
    EXPECT_LT(share_that_differs(host_g, host_u, once, dtype, false), kFew);
    EXPECT_GT(share_that_differs(host_g, host_u, once, dtype, true), kMany);
    EXPECT_LT(share_that_differs(host_g, host_u, twice, dtype, true), kFew);
    EXPECT_GT(share_that_differs(host_g, host_u, twice, dtype, false), kMany);
  }
}

TEST_F(PointwiseOnGpu, TakesAddressesThatNoPackStartsAt) {
  const std::int64_t count = 4099;
  const auto shifted = [](const Tensor& whole) {
    return Tensor{static_cast<std::byte*>(whole.data) + dtype_bytes(whole.dtype), 1,
                  whole.count() - 1, whole.dtype};
  };
  const Tensor g = random(1, count, Dtype::kBf16, kScale, 5);
  const Tensor u = random(1, count, Dtype::kBf16, kScale, 6);
  const Tensor out = tensor(1, count, Dtype::kBf16), expected = tensor(1, count, Dtype::kBf16);
  enqueue_gated(kGelu, g, u, expected, device_->stream());
  device_->poison(out);
  enqueue_gated(kGelu, shifted(g), shifted(u), shifted(out), device_->stream());
  const Bytes want = bytes(expected), got = bytes(out);
  EXPECT_TRUE(std::equal(want.begin() + 2, want.end(), got.begin() + 2));
  EXPECT_EQ(got[0], kGuard);
  EXPECT_EQ(got[1], kGuard);
}

// Each launch reads what the one before wrote, over several waves of blocks.
TEST_F(PointwiseOnGpu, WaitsForTheKernelBeforeIt) {
  constexpr int kLaunches = 20;
  const auto chained = [&](bool wait_between) {
    const Tensor x = random(1024, 3073, Dtype::kBf16, kScale, 7);
    const Tensor u = random(1024, 3073, Dtype::kBf16, kScale, 8);
    for (int i = 0; i < kLaunches; ++i) {
      enqueue_gated(kGelu, x, u, x, device_->stream());
      if (wait_between) device_->synchronize();
    }
    return bytes(x);
  };
  const Bytes expected = chained(true);
  for (int repetition = 0; repetition < 20; ++repetition) EXPECT_EQ(chained(false), expected);
}

}  // namespace
}  // namespace fusegate::kernels
