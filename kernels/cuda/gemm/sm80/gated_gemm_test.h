// For tests of gated_gemm_sm80: one problem with one tile shape against the double-precision
// reference, in memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm80/gated_gemm.h"

namespace fusegate::kernels {

class GatedGemmSm80 : public GpuTest, public testing::WithParamInterface<std::size_t> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    limits_ = device_->limits();
    if (!fits(kGatedTiles[GetParam()], limits_)) GTEST_SKIP() << "too little shared memory";
  }

  void check(const GemmSize& size, Dtype dtype) {
    const GatedGemmPlan plan = plan_gated_gemm_sm80(size, limits_, GetParam());
    for (const Activation& activation : kGemmActivations) {
      SCOPED_TRACE(activation.name);
      prepare_gated_gemm_sm80(plan, activation, dtype);
      expect_gated(activation, size, dtype, [&](const GatedOperands& operands) {
        enqueue_gated_gemm_sm80(plan, activation, operands, device_->stream());
      });
    }
  }

  GpuLimits limits_;
};

}  // namespace fusegate::kernels
