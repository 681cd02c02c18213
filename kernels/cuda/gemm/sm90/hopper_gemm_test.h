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

  void check_swapped(const GemmSize& size, std::size_t tile, bool streams_k = false) {
    const GatedGemmPlan plan = plan_swapped_gated_sm90(size, device_->limits(), tile, streams_k);
    ASSERT_EQ(plan.streams_k, streams_k);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, Dtype::kBf16, [&](const GatedOperands& operands) {
        const auto launch = make_swapped_gated_sm90(*device_, plan, activation, operands);
        // Twice: what clusters gave to each other must be gone.
        for (int i = 0; i <= streams_k; ++i) launch();
      });
    }
  }

  void check_wide_gated(const GemmSize& size) {
    const TileRaster raster = plan_wide_gated_sm90(size, device_->limits());
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, Dtype::kBf16, [&](const GatedOperands& operands) {
        make_wide_gated_sm90(*device_, raster, activation, operands)();
      });
    }
  }

  // Of all these rows, columns and sums.
  static std::vector<GemmSize> sizes(const std::vector<int>& m, const std::vector<int>& n,
                                     const std::vector<int>& k) {
    std::vector<GemmSize> all;
    for (const int rows : m) {
      for (const int columns : n) {
        for (const int sums : k) all.push_back({rows, columns, sums});
      }
    }
    return all;
  }
  // Calls check(size, whether g and u lie side by side).
  template <typename Check>
  static void in_both_layouts(const std::vector<GemmSize>& sizes, const Check& check) {
    for (const GemmSize& size : sizes) {
      for (const bool side_by_side : {false, true}) {
        SCOPED_TRACE(testing::Message() << "rows " << size.m << " hidden " << size.n << " dim "
                                        << size.k << (side_by_side ? ", side by side" : ""));
        check(size, side_by_side);
      }
    }
  }
  void check_keeping(const std::vector<GemmSize>& sizes) {
    in_both_layouts(sizes, [this](const GemmSize& size, bool side_by_side) {
      check_keeping(size, side_by_side);
    });
  }
  void check_backward(const std::vector<GemmSize>& sizes) {
    in_both_layouts(sizes, [this](const GemmSize& size, bool side_by_side) {
      check_backward(size, side_by_side);
    });
  }

  // lies_side_by_side: g and u, as what training_stages.h packs.
  void check_keeping(const GemmSize& size, bool lies_side_by_side) {
    const GatedGemmPlan plan = plan_gated_gemm_sm90(size, device_->limits(), kKeepingTileSm90);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      const GuardedTensor x = guarded_random(size.m, size.k, Dtype::kBf16, 2);
      const GuardedTensor w = guarded_random(2 * size.n, size.k, Dtype::kBf16, 0.5);
      const Pair weights = halves(w.tensor, false);
      const GuardedTensor gu(*device_, 2 * size.m, size.n, Dtype::kBf16);
      const Pair kept = halves(gu.tensor, lies_side_by_side);
      const GuardedTensor h(*device_, size.m, size.n, Dtype::kBf16);
      make_keeping_gated_sm90(*device_, plan, activation,
                              {.x = x.tensor,
                               .w_gate = weights.first,
                               .w_up = weights.second,
                               .g = kept.first,
                               .u = kept.second,
                               .h = h.tensor,
                               .stride = kept.stride})();
      expect_agrees(gu, both_products(x.tensor, w.tensor, weights, lies_side_by_side), {&x, &w});
      expect_agrees(h, gated_of_products(activation, x.tensor, weights.first, weights.second), {});
      memory_.clear();
    }
  }

  // With every shape of the split product that fits so many SMs.
  void check_split(const GemmSize& size, Dtype dtype, int sm_count) {
    GpuLimits gpu = device_->limits();
    gpu.sm_count = sm_count;
    for (const std::size_t shape : split_gemm_shapes(size, dtype, gpu)) {
      SCOPED_TRACE(split_gemm_text(shape));
      check_product(size, dtype, [&](const Tensor& x, const Tensor& w, const Tensor& out) {
        make_split_gemm_sm90(*device_, shape, x, w, out)();
      });
    }
  }

  // lies_in_place: g and u lie side by side, and dg and du take their place.
  void check_backward(const GemmSize& size, bool lies_in_place) {
    for (std::size_t ring = 0; ring < kBackwardRings.size(); ++ring) {
      SCOPED_TRACE(testing::Message() << "ring " << ring);
      check_backward(size, lies_in_place, ring);
    }
  }
  void check_backward(const GemmSize& size, bool lies_in_place, std::size_t ring) {
    BackwardGemmPlan plan = plan_backward_gemm_sm90(size, device_->limits());
    plan.ring = ring;
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      const GuardedTensor dy = guarded_random(size.m, size.k, Dtype::kBf16, 2);
      const GuardedTensor w = guarded_random(size.k, size.n, Dtype::kBf16, 0.5);
      const GuardedTensor gu = guarded_random(2 * size.m, size.n, Dtype::kBf16, 3);
      const GuardedTensor d(*device_, 2 * size.m, size.n, Dtype::kBf16);
      const GuardedTensor h(*device_, size.m, size.n, Dtype::kBf16);
      const Pair in = halves(gu.tensor, lies_in_place);
      const Pair out = lies_in_place ? in : halves(d.tensor, false);
      double* const expected = expected_backward(activation, dy.tensor, w.tensor, gu.tensor, in);
      make_backward_gemm_sm90(*device_, plan, activation,
                              {dy.tensor,
                               w.tensor,
                               {.g = in.first,
                                .u = in.second,
                                .dh = {},
                                .dg = out.first,
                                .du = out.second,
                                .h = h.tensor,
                                .in_stride = in.stride,
                                .out_stride = out.stride}})();
      expect_agrees(lies_in_place ? gu : d, expected, {&dy, &w, &gu});
      expect_agrees(h, expected + 2 * size.m * size.n, {});
      memory_.clear();
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
        const TileRaster raster = plan_wide_gemm_sm90(size, device_->limits(), Dtype::kFp8E4m3,
                                                      promotes ? kNarrowGemmCols : kWideGemmCols);
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
  // Of a matrix [2 m, n]: its upper and its lower half; or of the same memory as [m, 2 n] its left
  // and its right one.
  struct Pair {
    Tensor first, second;
    std::int64_t stride = 0;
  };
  static Pair halves(const Tensor& both, bool side_by_side) {
    const std::int64_t m = both.rows() / 2, n = both.cols();
    const std::int64_t between = side_by_side ? n : m * n;
    std::byte* const second = static_cast<std::byte*>(both.data) + 2 * between;
    return {
        {both.data, {m, n}, both.dtype}, {second, {m, n}, both.dtype}, side_by_side ? 2 * n : 0};
  }

  // x's with both halves of w: one behind the other, or side by side, as w's own product is.
  double* both_products(const Tensor& x, const Tensor& w, const Pair& of, bool side_by_side) {
    if (side_by_side) return product(x, w);
    const std::int64_t count = x.rows() * of.first.rows();
    double* const both = doubles(2 * count);
    ReferenceMath& math = device_->reference_math();
    const double* const wide = widened(x);
    math.matmul(wide, widened(of.first), both, x.rows(), of.first.rows(), x.cols());
    math.matmul(wide, widened(of.second), both + count, x.rows(), of.first.rows(), x.cols());
    return both;
  }

  // dg and du as they lie, and h behind them.
  double* expected_backward(const Activation& activation, const Tensor& dy, const Tensor& w,
                            const Tensor& gu, const Pair& in) {
    const std::int64_t m = dy.rows(), n = w.cols(), count = m * n;
    ReferenceMath& math = device_->reference_math();
    double *const transposed = doubles(w.count()), *const dh = doubles(count);
    math.transpose(widened(w), transposed, w.rows(), n);
    math.matmul(widened(dy), transposed, dh, m, n, dy.cols());
    double *const wide = widened(gu), *const expected = doubles(3 * count);
    // A row at a time, which is the same for both layouts.
    const std::int64_t stride = std::max(in.stride, n), second = in.stride > 0 ? n : count;
    for (std::int64_t row = 0; row < m; ++row) {
      const double *const g = wide + row * stride, *const u = g + second;
      double *const dg = expected + row * stride, *const du = dg + second;
      math.gate(activation, g, u, expected + 2 * count + row * n, n);
      math.gate_backward(activation, {.g = g, .u = u, .dh = dh + row * n, .dg = dg, .du = du}, n);
    }
    return expected;
  }

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
