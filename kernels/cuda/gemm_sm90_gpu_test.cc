// Every tile shape of gemm_sm90, and split_gemm_sm90, around their edges, against the
// double-precision reference, in memory with guard zones.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "kernels/cuda/fused_epilogue.h"
#include "kernels/cuda/gemm_sm90.h"
#include "kernels/cuda/guarded_tensor.h"
#include "kernels/cuda/split_gemm_sm90.h"
#include "kernels/verify.h"

namespace fusegate {
namespace {

class HopperGemm : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = std::make_unique<CudaDevice>();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    if (const std::string why = refuses_sm90(*device_); !why.empty()) GTEST_SKIP() << why;
  }

  // In double precision, in memory of its own.
  double* product(const Tensor& x, const Tensor& w) {
    const auto doubles = [&](std::int64_t count) {
      memory_.push_back(device_->allocate(static_cast<std::size_t>(count) * sizeof(double)));
      return static_cast<double*>(memory_.back().data());
    };
    ReferenceMath& math = device_->reference_math();
    double* const wide_x = doubles(x.count());
    double* const wide_w = doubles(w.count());
    double* const out = doubles(x.rows * w.rows);
    math.widen(x, wide_x);
    math.widen(w, wide_w);
    math.matmul(wide_x, wide_w, out, x.rows, w.rows, x.cols);
    return out;
  }

  void expect_agrees(const GuardedTensor& out, const double* expected) {
    const ErrorNorms norms = device_->reference_math().compare(out.tensor, expected);
    EXPECT_LE(norms.relative(), error_bound(out.tensor.dtype));
    EXPECT_EQ(norms.not_finite, 0);
    EXPECT_TRUE(out.guards_are_whole());
    memory_.clear();
  }

  void check_geglu(const GemmSize& size, Dtype dtype, std::size_t tile) {
    const GuardedTensor x(*device_, size.rows, size.k, dtype);
    const GuardedTensor w_gate(*device_, size.cols, size.k, dtype);
    const GuardedTensor w_up(*device_, size.cols, size.k, dtype);
    const GuardedTensor h(*device_, size.rows, size.cols, dtype);
    device_->fill_random(x.tensor, 2, ++seed_);
    device_->fill_random(w_gate.tensor, 0.5, ++seed_);
    device_->fill_random(w_up.tensor, 0.5, ++seed_);
    make_gemm_sm90(*device_, plan_gemm_sm90(size, device_->properties().multiProcessorCount, tile),
                   {x.tensor, w_gate.tensor, w_up.tensor, h.tensor})();
    double* const g = product(x.tensor, w_gate.tensor);
    device_->reference_math().geglu(g, product(x.tensor, w_up.tensor), g, size.rows * size.cols);
    expect_agrees(h, g);
  }

  void check_split(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype) {
    const GuardedTensor x(*device_, m, k, dtype), w(*device_, n, k, dtype),
        out(*device_, m, n, dtype);
    device_->fill_random(x.tensor, 2, ++seed_);
    device_->fill_random(w.tensor, 0.5, ++seed_);
    make_split_gemm_sm90(*device_, x.tensor, w.tensor, out.tensor)();
    expect_agrees(out, product(x.tensor, w.tensor));
  }

  std::unique_ptr<CudaDevice> device_;
  std::vector<Memory> memory_;
  std::uint64_t seed_ = 0;
};

TEST_F(HopperGemm, GegluAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kGegluTilesSm90.size(); ++tile) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const int rows : {1, 7, 8, 127, 128, 129, 257}) {
        for (const int hidden : {8, 136, 264}) {
          for (const int dim : {8, 72, 136}) {
            SCOPED_TRACE(testing::Message()
                         << "tile " << tile << " " << dtype_name(dtype) << " rows " << rows
                         << " hidden " << hidden << " dim " << dim);
            check_geglu({rows, hidden, dim}, dtype, tile);
          }
        }
      }
    }
  }
}

// The ring, the barriers' phases and the staging of stores go round many times.
TEST_F(HopperGemm, GegluAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGegluTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 20; ++repeat) check_geglu({1000, 8200, 200}, Dtype::kBf16, tile);
  }
}

TEST_F(HopperGemm, SplitAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : {1, 7, 8, 127, 128, 129}) {
      for (const int n : {8, 40, 768}) {
        for (const int k : {256, 264, 3072}) {
          SCOPED_TRACE(testing::Message()
                       << dtype_name(dtype) << " m " << m << " n " << n << " k " << k);
          check_split(m, n, k, dtype);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fusegate
