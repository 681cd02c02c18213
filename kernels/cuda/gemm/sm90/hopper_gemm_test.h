// For tests of gated_gemm_sm90, split_gemm_sm90 and wide_gemm_sm90: one problem against the
// double-precision reference, in memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include <string>

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

  void check_swapped(const GemmSize& size, Dtype dtype, std::size_t tile) {
    const GatedGemmPlan plan = plan_swapped_gated_sm90(size, device_->limits(), tile);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, dtype, [&](const GatedOperands& operands) {
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

  void check_wide(const GemmSize& size, Dtype dtype) {
    const TileRaster raster = plan_wide_gemm_sm90(size, device_->limits());
    check_product(size, dtype, [&](const Tensor& x, const Tensor& w, const Tensor& out) {
      make_wide_gemm_sm90(*device_, raster, x, w, out)();
    });
  }

 private:
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
