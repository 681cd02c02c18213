// Every tile shape of gemm_sm90, and split_gemm_sm90, around their edges, against the
// double-precision reference, in memory with guard zones.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/cuda/fused_epilogue.h"
#include "kernels/cuda/gemm_sm90.h"
#include "kernels/cuda/gpu_test_fixture.h"
#include "kernels/cuda/split_gemm_sm90.h"

namespace fusegate {
namespace {

class HopperGemm : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }

  GemmPlan plan(const GemmSize& size, GemmEpilogue epilogue, std::size_t tile) const {
    return plan_gemm_sm90(size, epilogue, device_->properties().multiProcessorCount, tile);
  }

  void check_geglu(const GemmSize& size, Dtype dtype, std::size_t tile) {
    expect_geglu(size, dtype, [&](const auto&... operands) {
      make_geglu_gemm_sm90(*device_, plan(size, GemmEpilogue::kGeglu, tile), {operands...})();
    });
  }

  void check_linear(const GemmSize& size, Dtype dtype, std::size_t tile) {
    expect_linear(size, dtype, [&](const auto&... operands) {
      make_linear_gemm_sm90(*device_, plan(size, GemmEpilogue::kNone, tile), {operands...})();
    });
  }

  void check_split(const GemmSize& size, Dtype dtype) {
    expect_linear(size, dtype,
                  [&](const auto&... operands) { make_split_gemm_sm90(*device_, operands...)(); });
  }
};

using CheckTile = std::function<void(const GemmSize&, Dtype, std::size_t)>;

void check_edges(const CheckTile& check) {
  for (std::size_t tile = 0; tile < kGemmTilesSm90.size(); ++tile) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const int rows : {1, 7, 8, 127, 128, 129, 257}) {
        for (const int cols : {8, 136, 264}) {
          for (const int k : {8, 72, 136}) {
            SCOPED_TRACE(testing::Message() << "tile " << tile << " " << dtype_name(dtype)
                                            << " rows " << rows << " cols " << cols << " k " << k);
            check({rows, cols, k}, dtype, tile);
          }
        }
      }
    }
  }
}

// The ring, the barriers' phases and the staging of stores go round many times.
void check_many_tiles_a_block(const CheckTile& check) {
  for (std::size_t tile = 0; tile < kGemmTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 20; ++repeat) check({1000, 8200, 200}, Dtype::kBf16, tile);
  }
}

TEST_F(HopperGemm, GegluAgreesWithTheReferenceAroundEveryEdge) {
  check_edges([this](auto... of) { check_geglu(of...); });
}
TEST_F(HopperGemm, GegluAgreesWithTheReferenceOverManyTilesABlock) {
  check_many_tiles_a_block([this](auto... of) { check_geglu(of...); });
}

TEST_F(HopperGemm, LinearAgreesWithTheReferenceAroundEveryEdge) {
  check_edges([this](auto... of) { check_linear(of...); });
}
TEST_F(HopperGemm, LinearAgreesWithTheReferenceOverManyTilesABlock) {
  check_many_tiles_a_block([this](auto... of) { check_linear(of...); });
}

TEST_F(HopperGemm, SplitAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : {1, 7, 8, 127, 128, 129}) {
      for (const int n : {8, 40, 768}) {
        for (const int k : {256, 264, 3072}) {
          SCOPED_TRACE(testing::Message()
                       << dtype_name(dtype) << " m " << m << " n " << n << " k " << k);
          check_split({m, n, k}, dtype);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fusegate
