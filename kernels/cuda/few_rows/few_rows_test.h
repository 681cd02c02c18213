// For tests of few_rows_gemm and gemv: one problem against the double-precision reference, in
// memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/few_rows/few_rows_gemm.h"
#include "kernels/cuda/few_rows/gemv.h"

namespace fusegate::kernels {

class FewRows : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) limits_ = device_->limits();
  }

  // One product where weights is 1, a gated unit of two where it is 2, with every shape that fits.
  void check(const FewRowsSize& size, Dtype dtype) {
    for (const Activation& activation : kGemmActivations) check(activation, size, dtype);
  }
  void check(const Activation& activation, const FewRowsSize& size, Dtype dtype) {
    SCOPED_TRACE(activation.name);
    const GuardedTensor x = guarded_random(size.rows, size.k, dtype, 2);
    const GuardedTensor first = guarded_random(size.cols, size.k, dtype, 0.5);
    const GuardedTensor second = guarded_random(size.cols, size.k, dtype, 0.5);
    const double* const expected =
        size.weights == 1 ? product(x.tensor, first.tensor)
                          : gated_of_products(activation, x.tensor, first.tensor, second.tensor);
    for (std::size_t shape = 0; shape < kFewRowsShapes.size(); ++shape) {
      if (!fits(kFewRowsShapes[shape], size)) continue;
      SCOPED_TRACE(testing::Message() << "shape " << shape);
      const FewRowsPlan plan = plan_few_rows(size, limits_, shape);
      const GuardedTensor out(*device_, size.rows, size.cols, dtype);
      if (size.weights == 1) {
        enqueue_few_rows_matmul(plan, x.tensor, first.tensor, out.tensor, device_->stream());
      } else {
        enqueue_few_rows_gated(plan, activation,
                               {x.tensor, first.tensor, second.tensor, out.tensor},
                               device_->stream());
      }
      expect_agrees(out, expected, {&x, &first, &second});
    }
    memory_.clear();
  }

  GpuLimits limits_;
};

// Every plan of gemv.
class Gemv : public GpuTest {
 protected:
  void check(std::int64_t cols, std::int64_t k, Dtype dtype) {
    const GuardedTensor x = guarded_random(1, k, dtype, 2);
    const GuardedTensor first = guarded_random(cols, k, dtype, 0.5);
    const GuardedTensor second = guarded_random(cols, k, dtype, 0.5);
    const double* const linear = product(x.tensor, first.tensor);
    for (const GemvPlan& plan : gemv_plans(cols, k)) {
      SCOPED_TRACE(plan_text(plan));
      const GuardedTensor out(*device_, 1, cols, dtype);
      enqueue_gemv(plan, x.tensor, first.tensor, out.tensor, device_->stream());
      expect_agrees(out, linear, {&x, &first});
    }
    for (const Activation& activation : kGemmActivations) {
      const double* const gated =
          gated_of_products(activation, x.tensor, first.tensor, second.tensor);
      for (const GemvPlan& plan : gemv_plans(cols, k)) {
        SCOPED_TRACE(testing::Message() << activation.name << ", " << plan_text(plan));
        const GuardedTensor h(*device_, 1, cols, dtype);
        enqueue_gemv_gated(plan, activation, {x.tensor, first.tensor, second.tensor, h.tensor},
                           device_->stream());
        expect_agrees(h, gated, {&x, &first, &second});
      }
    }
    memory_.clear();
  }
};

}  // namespace fusegate::kernels
