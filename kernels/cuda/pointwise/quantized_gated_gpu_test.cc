// The gated unit that quantizes, against the double-precision reference.
#include <gtest/gtest.h>

#include <span>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/pointwise/quantized_gated.h"

namespace fusegate::kernels {
namespace {

class QuantizedGated : public GpuTest {
 protected:
  // scales: powers of two, by which a reference is divided exactly.
  void expect_right(std::int64_t rows, std::int64_t cols, double scale, bool of_rows) {
    const GuardedTensor g = guarded_random(rows, cols, Dtype::kBf16, 3);
    const GuardedTensor u = guarded_random(rows, cols, Dtype::kBf16, 3);
    const GuardedTensor out(*device_, rows, cols, Dtype::kFp8E4m3);
    const Tensor scales = tensor(of_rows ? rows : 1, 1, Dtype::kFp32);
    device_->fill(scales, Fill::constant(scale), 1);
    double* const expected = doubles(rows * cols);
    double* const inverse = doubles(1);
    const double of_scale = 1 / scale;
    device_->copy_to_device(std::as_bytes(std::span(&of_scale, 1)), inverse);
    for (const Activation& activation : kGemmActivations) {
      enqueue_quantized_gated(activation, g.tensor, u.tensor, scales, out.tensor,
                              device_->stream());
      ReferenceMath& math = device_->reference_math();
      math.gate(activation, widened(g.tensor), widened(u.tensor), expected, rows * cols);
      math.apply_scales({rows, cols}, inverse, expected, rows, cols);
      expect_agrees(out, expected, {&g, &u});
    }
    memory_.clear();
  }
};

TEST_F(QuantizedGated, AgreesWithTheReference) {
  for (const int rows : edges({1, 3, 129})) {
    for (const int cols : edges({8, 16, 3072, 11008})) {
      for (const double scale : {0.25, 4.0}) {
        for (const bool of_rows : {false, true}) expect_right(rows, cols, scale, of_rows);
      }
    }
  }
}

// 200 x 200 is beyond 448.
TEST_F(QuantizedGated, SaturatesAndIsNeverNaN) {
  const Tensor g = tensor(4, 64, Dtype::kBf16), scales = tensor(1, 1, Dtype::kFp32);
  const Tensor out = tensor(4, 64, Dtype::kFp8E4m3);
  device_->fill(g, Fill::constant(200), 1);
  device_->fill(scales, Fill::constant(1), 1);
  enqueue_quantized_gated(kGemmActivations[0], g, g, scales, out, device_->stream());
  for (const std::byte element : bytes(out)) ASSERT_EQ(element, std::byte{0x7e});  // 448
}

}  // namespace
}  // namespace fusegate::kernels
