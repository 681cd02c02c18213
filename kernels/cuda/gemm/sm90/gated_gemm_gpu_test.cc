// Every tile shape of gated_gemm_sm90, split_gemm_sm90 and wide_gemm_sm90, around their edges,
// against the double-precision reference, in memory with guard zones.
#include <gtest/gtest.h>

#include <string>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm90/gated_gemm.h"
#include "kernels/cuda/gemm/sm90/split_gemm.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.h"

namespace fusegate::kernels {
namespace {

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
      expect_gated(activation, size, dtype, [&](const auto&... operands) {
        make_gated_gemm_sm90(*device_, plan, activation, {operands...})();
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

TEST_F(HopperGemm, GatedAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const int rows : edges({1, 7, 8, 127, 128, 129, 257})) {
        for (const int hidden : edges({8, 136, 264})) {
          for (const int dim : edges({8, 72, 136})) {
            SCOPED_TRACE(testing::Message()
                         << "tile " << tile << " " << dtype_name(dtype) << " rows " << rows
                         << " hidden " << hidden << " dim " << dim);
            check_gated({rows, hidden, dim}, dtype, tile);
          }
        }
      }
    }
  }
}

// The ring, the barriers' phases and the staging of stores go round many times.
TEST_F(HopperGemm, GatedAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 20; ++repeat) check_gated({1000, 8200, 200}, Dtype::kBf16, tile);
  }
}

TEST_F(HopperGemm, SplitAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : edges({1, 7, 8, 127, 128, 129})) {
      for (const int n : edges({8, 40, 768})) {
        for (const int k : edges({256, 264, 3072})) {
          SCOPED_TRACE(testing::Message()
                       << dtype_name(dtype) << " m " << m << " n " << n << " k " << k);
          check_split(m, n, k, dtype);
        }
      }
    }
  }
}

TEST_F(HopperGemm, WideAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : edges({1, 128, 129, 255, 256, 257})) {
      for (const int n : edges({8, 184, 192, 200, 384, 392})) {
        for (const int k : edges({8, 72, 264})) check_wide({m, n, k}, dtype);
      }
    }
  }
}

TEST_F(HopperGemm, WideAgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 5; ++repeat) check_wide({6000, 4200, 520}, Dtype::kBf16);
}

}  // namespace
}  // namespace fusegate::kernels
