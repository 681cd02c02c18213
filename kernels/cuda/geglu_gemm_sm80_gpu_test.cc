// Every tile shape of geglu_gemm_sm80 around its edges, against the double-precision reference, in
// memory with guard zones.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/geglu_gemm_sm80.h"
#include "kernels/cuda/guarded_tensor.h"
#include "kernels/verify.h"

namespace fusegate {
namespace {

class GegluGemmSm80 : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("cuda");
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    limits_ = gpu_limits(static_cast<CudaDevice&>(*device_).properties());
    if (!fits(kGegluTiles[GetParam()], limits_)) GTEST_SKIP() << "too little shared memory";
  }

  double* widened(const Tensor& tensor) {
    double* const wide = doubles(tensor.count());
    device_->reference_math().widen(tensor, wide);
    return wide;
  }

  double* doubles(std::int64_t count) {
    memory_.push_back(device_->allocate(static_cast<std::size_t>(count) * sizeof(double)));
    return static_cast<double*>(memory_.back().data());
  }

  ErrorNorms compare(const Tensor& x, const Tensor& w_gate, const Tensor& w_up, const Tensor& h) {
    ReferenceMath& math = device_->reference_math();
    double* const wide_x = widened(x);
    double* const g = doubles(h.count());
    double* const u = doubles(h.count());
    math.matmul(wide_x, widened(w_gate), g, h.rows, h.cols, x.cols);
    math.matmul(wide_x, widened(w_up), u, h.rows, h.cols, x.cols);
    math.geglu(g, u, g, h.count());
    const ErrorNorms norms = math.compare(h, g);
    device_->synchronize();
    memory_.clear();
    return norms;
  }

  void check(const GemmSize& size, Dtype dtype, std::uint64_t seed) {
    const GuardedTensor x(*device_, size.rows, size.k, dtype);
    const GuardedTensor w_gate(*device_, size.cols, size.k, dtype);
    const GuardedTensor w_up(*device_, size.cols, size.k, dtype);
    const GuardedTensor h(*device_, size.rows, size.cols, dtype);
    device_->fill_random(x.tensor, 2, seed);
    device_->fill_random(w_gate.tensor, 0.5, seed + 1);
    device_->fill_random(w_up.tensor, 0.5, seed + 2);
    const GemmPlan plan = plan_geglu_gemm_sm80(size, limits_, GetParam());
    prepare_geglu_gemm_sm80(plan, dtype);
    enqueue_geglu_gemm_sm80(plan, x.tensor, w_gate.tensor, w_up.tensor, h.tensor,
                            static_cast<CudaDevice&>(*device_).stream());
    const ErrorNorms norms = compare(x.tensor, w_gate.tensor, w_up.tensor, h.tensor);
    EXPECT_LE(norms.relative(), error_bound(dtype));
    EXPECT_EQ(norms.not_finite, 0);
    for (const GuardedTensor* tensor : {&x, &w_gate, &w_up, &h}) {
      EXPECT_TRUE(tensor->guards_are_whole());
    }
  }

  std::unique_ptr<Device> device_;
  GpuLimits limits_;
  std::vector<Memory> memory_;
};

TEST_P(GegluGemmSm80, AgreesWithTheReferenceAroundEveryEdge) {
  std::uint64_t seed = 0;
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int rows : {1, 7, 8, 127, 128, 129}) {
      for (const int hidden : {8, 136, 264}) {
        for (const int dim : {8, 72, 136}) {
          SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " rows " << rows << " hidden "
                                          << hidden << " dim " << dim);
          check({rows, hidden, dim}, dtype, seed += 3);
        }
      }
    }
  }
}

// More tiles than blocks, so that a block goes from one tile to the next and on to a group cut
// short.
TEST_P(GegluGemmSm80, AgreesWithTheReferenceOverManyTilesABlock) {
  for (const std::uint64_t seed : {1u, 5u, 9u}) check({2100, 3080, 200}, Dtype::kBf16, seed);
}

INSTANTIATE_TEST_SUITE_P(Tiles, GegluGemmSm80, testing::Range<std::size_t>(0, kGegluTiles.size()));

}  // namespace
}  // namespace fusegate
