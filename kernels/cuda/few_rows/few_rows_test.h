// For tests of few_rows_gemm and gemv: one problem against the double-precision reference, in
// memory with guard zones.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/few_rows/few_rows.h"

namespace fusegate::kernels {

// One product where weights is 1, a gated unit of two where it is 2.
class FewRows : public GpuTest {
 protected:
  // With every shape that fits.
  void check(const FewRowsSize& size, Dtype dtype) {
    std::vector<FewRowsPlan> plans;
    for (std::size_t shape = 0; shape < kFewRowsShapes.size(); ++shape) {
      if (!fits(kFewRowsShapes[shape], size)) continue;
      plans.push_back(plan_few_rows(size, device_->limits(), shape));
    }
    check(plans, size, dtype);
  }
  // Of one row, with every plan of gemv.
  void check_gemv(std::int64_t cols, std::int64_t k, Dtype dtype) {
    for (const int weights : {1, 2}) check(gemv_plans(cols, k), {1, cols, k, weights}, dtype);
  }

 private:
  template <typename Plan>
  void check(const std::vector<Plan>& plans, const FewRowsSize& size, Dtype dtype) {
    const GuardedTensor x = guarded_random(size.rows, size.k, dtype, 2);
    const GuardedTensor first = guarded_random(size.cols, size.k, dtype, 0.5);
    const GuardedTensor second = guarded_random(size.cols, size.k, dtype, 0.5);
    for (const Activation& activation : kGemmActivations) {
      const double* const expected =
          size.weights == 1 ? product(x.tensor, first.tensor)
                            : gated_of_products(activation, x.tensor, first.tensor, second.tensor);
      for (const Plan& plan : plans) {
        SCOPED_TRACE(testing::Message() << activation.name << ", " << plan_text(plan));
        const GuardedTensor out(*device_, size.rows, size.cols, dtype);
        if (size.weights == 1) {
          enqueue_streamed_matmul(plan, x.tensor, first.tensor, out.tensor, device_->stream());
        } else {
          enqueue_streamed_gated(plan, activation,
                                 {x.tensor, first.tensor, second.tensor, out.tensor},
                                 device_->stream());
        }
        expect_agrees(out, expected, {&x, &first, &second});
      }
      if (size.weights == 1) break;  // the activation is none of it
    }
    memory_.clear();
  }
};

}  // namespace fusegate::kernels
