// For tests of gated_gemm_sm90, split_gemm_sm90 and wide_gemm_sm90: one problem against the
// double-precision reference, in memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm90/gated_gemm.h"
#include "kernels/cuda/gemm/sm90/split_gemm.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.h"

namespace fusegate::kernels {

class HopperGemm : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }

  void check_gated(const GatedGemmSize& size, Dtype dtype, std::size_t tile) {
    const GatedGemmPlan plan = plan_gated_gemm_sm90(size, device_->limits(), tile);
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      expect_gated(activation, size, dtype, [&](const GatedOperands& operands) {
        make_gated_gemm_sm90(*device_, plan, activation, operands)();
      });
    }
  }

  // With every shape that fits.
  void check_split(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype) {
    const GuardedTensor x = guarded_random(m, k, dtype, 2), w = guarded_random(n, k, dtype, 0.5);
    const double* const expected = product(x.tensor, w.tensor);
    for (const std::size_t shape : split_gemm_shapes({m, n, k}, device_->limits())) {
      SCOPED_TRACE(split_gemm_text(shape));
      const GuardedTensor out(*device_, m, n, dtype);
      make_split_gemm_sm90(*device_, shape, x.tensor, w.tensor, out.tensor)();
      expect_agrees(out, expected, {&x, &w});
    }
    memory_.clear();
  }

  void check_wide(const GemmSize& size, Dtype dtype) {
    SCOPED_TRACE(testing::Message()
                 << dtype_name(dtype) << " m " << size.m << " n " << size.n << " k " << size.k);
    const GuardedTensor x = guarded_random(size.m, size.k, dtype, 2);
    const GuardedTensor w = guarded_random(size.n, size.k, dtype, 0.5);
    const double* const expected = product(x.tensor, w.tensor);
    const GuardedTensor out(*device_, size.m, size.n, dtype);
    const WideGemmPlan plan = plan_wide_gemm_sm90(size, device_->limits());
    make_wide_gemm_sm90(*device_, plan, x.tensor, w.tensor, out.tensor)();
    expect_agrees(out, expected, {&x, &w});
    memory_.clear();
  }
};

}  // namespace fusegate::kernels
