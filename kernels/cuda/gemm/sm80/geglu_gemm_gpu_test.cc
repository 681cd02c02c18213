// Every tile shape of geglu_gemm_sm80 around its edges, against the double-precision reference, in
// memory with guard zones.
#include <gtest/gtest.h>

#include "kernels/cuda/device/gpu_test_fixture.h"
#include "kernels/cuda/gemm/sm80/geglu_gemm.h"

namespace fusegate::kernels {
namespace {

class GegluGemmSm80 : public GpuTest, public testing::WithParamInterface<std::size_t> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    limits_ = gpu_limits(device_->properties());
    if (!fits(kGegluTiles[GetParam()], limits_)) GTEST_SKIP() << "too little shared memory";
  }

  void check(const GegluGemmSize& size, Dtype dtype) {
    const GegluGemmPlan plan = plan_geglu_gemm_sm80(size, limits_, GetParam());
    prepare_geglu_gemm_sm80(plan, dtype);
    expect_geglu(size, dtype, [&](const auto&... operands) {
      enqueue_geglu_gemm_sm80(plan, operands..., device_->stream());
    });
  }

  GpuLimits limits_;
};

TEST_P(GegluGemmSm80, AgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int rows : {1, 7, 8, 127, 128, 129}) {
      for (const int hidden : {8, 136, 264}) {
        for (const int dim : {8, 72, 136}) {
          SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " rows " << rows << " hidden "
                                          << hidden << " dim " << dim);
          check({rows, hidden, dim}, dtype);
        }
      }
    }
  }
}

// More tiles than blocks, so that a block goes from one tile to the next and on to a group cut
// short.
TEST_P(GegluGemmSm80, AgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 3; ++repeat) check({2100, 3080, 200}, Dtype::kBf16);
}

INSTANTIATE_TEST_SUITE_P(Tiles, GegluGemmSm80, testing::Range<std::size_t>(0, kGegluTiles.size()));

}  // namespace
}  // namespace fusegate::kernels
