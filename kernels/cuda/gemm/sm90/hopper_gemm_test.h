// For tests of gated_gemm_sm90, split_gemm_sm90 and wide_gemm_sm90: one problem against the
// double-precision reference, in memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {

class HopperGemm : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }

  void check_gated(const GemmSize& size, Dtype dtype, std::size_t tile) {
    const GatedGemmPlan plan = plan_gated_gemm_sm90(size, device_->limits(), tile);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, dtype, [&](const GatedOperands& operands) {
        make_gated_gemm_sm90(*device_, plan, activation, operands)();
      });
    }
  }

  void check_swapped(const GemmSize& size, std::size_t tile) {
    const GatedGemmPlan plan = plan_swapped_gated_sm90(size, device_->limits(), tile);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, Dtype::kBf16, [&](const GatedOperands& operands) {
        make_swapped_gated_sm90(*device_, plan, activation, operands)();
      });
    }
  }

  // With every shape of the split product that fits.
  void check_split(const GemmSize& size, Dtype dtype) {
    for (const std::size_t shape : split_gemm_shapes(size, device_->limits())) {
      SCOPED_TRACE(split_gemm_text(shape));
      check_product(size, dtype, [&](const Tensor& x, const Tensor& w, const Tensor& out) {
        make_split_gemm_sm90(*device_, shape, x, w, out)();
      });
    }
  }

  // Of e4m3 elements, with all scales that the tile is built for.
  void check_gated_fp8(const GemmSize& size, std::size_t tile) {
    const GatedGemmPlan plan = plan_gated_gemm_fp8_sm90(size, device_->limits(), tile);
    for (const Activation& activation : kGemmActivations) {
      for (const ScaledBy by : {ScaledBy::kMatrix, ScaledBy::kRows, ScaledBy::kBlocks}) {
        if (!is_built_fp8_sm90(tile, by)) continue;
        SCOPED_TRACE(testing::Message() << activation.name << ", scales " << static_cast<int>(by));
        const Scaled x = scaled(size.m, size.k, 2, by),
                     gate = scaled(size.n, size.k, 0.5, by, true),
                     up = scaled(size.n, size.k, 0.5, by, true);
        const Scaled h = scaled(size.m, size.n, 0, by);
        // It overflows where it is not scaled. Scales of blocks are written.
        device_->fill(h.scales, Fill::uniform(4, 12), 1);
        make_gated_gemm_fp8_sm90(*device_, plan, activation,
                                 {x.of.tensor, gate.of.tensor, up.of.tensor, h.of.tensor},
                                 {x.scales, gate.scales, up.scales, h.scales, by})();
        double* const expected = product(x, gate);
        ReferenceMath& math = device_->reference_math();
        math.gate(activation, expected, product(x, up), expected, size.m * size.n);
        math.apply_scales(h.blocks, inverse(h.scales), expected, size.m, size.n);
        expect_agrees(h.of, expected, {&x.of, &gate.of, &up.of});
        memory_.clear();
      }
    }
  }

  void check_wide_fp8(const GemmSize& size) {
    for (const ScaledBy by : {ScaledBy::kMatrix, ScaledBy::kRows, ScaledBy::kBlocks}) {
      for (const bool promotes : {false, true}) {
        if (by != ScaledBy::kMatrix && promotes != (by == ScaledBy::kBlocks)) continue;
        SCOPED_TRACE(testing::Message()
                     << "e4m3 m " << size.m << " n " << size.n << " k " << size.k << ", scales "
                     << static_cast<int>(by) << ", promotes " << promotes);
        const TileRaster raster =
            plan_wide_gemm_sm90(size, device_->limits(), Dtype::kFp8E4m3, promotes);
        const Scaled x = scaled(size.m, size.k, 2, by), w = scaled(size.n, size.k, 0.5, by, true);
        const GuardedTensor out(*device_, size.m, size.n, Dtype::kBf16);
        make_wide_gemm_fp8_sm90(*device_, raster, x.of.tensor, w.of.tensor, out.tensor,
                                {x.scales, w.scales, {}, by}, promotes)();
        expect_agrees(out, product(x, w), {&x.of, &w.of});
        memory_.clear();
      }
    }
  }

  void check_wide(const GemmSize& size, Dtype dtype) {
    const TileRaster raster = plan_wide_gemm_sm90(size, device_->limits());
    check_product(size, dtype, [&](const Tensor& x, const Tensor& w, const Tensor& out) {
      make_wide_gemm_sm90(*device_, raster, x, w, out)();
    });
  }

 private:
  // A matrix of e4m3 elements and its scales.
  struct Scaled {
    GuardedTensor of;
    ScaleBlocks blocks;
    Tensor scales;
  };
  Scaled scaled(std::int64_t rows, std::int64_t columns, double elements, ScaledBy by,
                bool is_weight = false) {
    const ScaleBlocks blocks = by == ScaledBy::kBlocks ? ScaleBlocks{is_weight ? 128 : 1, 128}
                               : by == ScaledBy::kRows ? ScaleBlocks{1, columns}
                                                       : ScaleBlocks{rows, columns};
    const auto shape = blocks.shape(rows, columns);
    Scaled made{guarded_random(rows, columns, Dtype::kFp8E4m3, elements), blocks,
                tensor(shape[0], shape[1], Dtype::kFp32)};
    device_->fill(made.scales, Fill::uniform(0.5, 1.5), memory_.size());
    return made;
  }
  double* widened_scaled(const Scaled& matrix) {
    const Tensor& of = matrix.of.tensor;
    double* const wide = widened(of);
    device_->reference_math().apply_scales(matrix.blocks, widened(matrix.scales), wide, of.rows(),
                                           of.cols());
    return wide;
  }
  double* product(const Scaled& x, const Scaled& w) {
    const std::int64_t m = x.of.tensor.rows(), n = w.of.tensor.rows();
    double* const out = doubles(m * n);
    device_->reference_math().matmul(widened_scaled(x), widened_scaled(w), out, m, n,
                                     x.of.tensor.cols());
    return out;
  }
  using GpuTest::product;
  double* inverse(const Tensor& scales) {
    std::vector<double> host(static_cast<std::size_t>(scales.count()));
    double* const wide = widened(scales);
    device_->copy_to_host(wide, std::as_writable_bytes(std::span(host)));
    for (double& value : host) value = 1 / value;
    device_->copy_to_device(std::as_bytes(std::span(host)), wide);
    return wide;
  }
  template <typename Compute>
  void check_product(const GemmSize& size, Dtype dtype, const Compute& compute) {
    SCOPED_TRACE(testing::Message()
                 << dtype_name(dtype) << " m " << size.m << " n " << size.n << " k " << size.k);
    const GuardedTensor x = guarded_random(size.m, size.k, dtype, 2);
    const GuardedTensor w = guarded_random(size.n, size.k, dtype, 0.5);
    const GuardedTensor out(*device_, size.m, size.n, dtype);
    compute(x.tensor, w.tensor, out.tensor);
    expect_agrees(out, product(x.tensor, w.tensor), {&x, &w});
    memory_.clear();
  }
};

}  // namespace fusegate::kernels
