// Every plan of gemv around its edges, against the double-precision reference, in memory with guard
// zones.
#include <gtest/gtest.h>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/few_rows/gemv.h"

namespace fusegate::kernels {
namespace {

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
        enqueue_gemv_gated(plan, activation, x.tensor, first.tensor, second.tensor, h.tensor,
                           device_->stream());
        expect_agrees(h, gated, {&x, &first, &second});
      }
    }
    memory_.clear();
  }
};

TEST_F(Gemv, AgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int cols : edges({8, 24, 136, 776})) {
      for (const int k : edges({8, 248, 256, 264, 776, 4104})) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " cols " << cols << " k " << k);
        check(cols, k, dtype);
      }
    }
  }
}

// Many rounds for every warp, and more blocks than the GPU holds at once.
TEST_F(Gemv, AgreesWithTheReferenceWhereWeightsAreMany) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    check(776, 12296, Dtype::kBf16);
    check(12296, 776, Dtype::kBf16);
  }
}

}  // namespace
}  // namespace fusegate::kernels
