// Every shape of few_rows_gemm and of gemv around its edges, against the double-precision
// reference, in memory with guard zones; and kernels that are launched early, one behind the other.
#include "kernels/cuda/few_rows/few_rows_test.h"

namespace fusegate::kernels {
namespace {

TEST_F(FewRows, AgreeWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int rows : edges({1, 2, 7, 8, 9, 16, 33, 64})) {
      for (const int cols : edges({8, 24, 136})) {
        for (const int k : edges({8, 24, 136, 776})) {
          for (const int weights : {1, 2}) {
            SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " rows " << rows << " cols "
                                            << cols << " k " << k << " weights " << weights);
            check({rows, cols, k, weights}, dtype);
          }
        }
      }
    }
  }
}

TEST_F(FewRows, OfOneAgreeWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int cols : edges({8, 24, 136, 776})) {
      for (const int k : edges({8, 248, 256, 264, 776, 4104})) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " cols " << cols << " k " << k);
        check_gemv(cols, k, dtype);
      }
    }
  }
}

// Several rounds of turns for every warp, and more blocks than the GPU holds at once.
TEST_F(FewRows, AgreeWithTheReferenceWhereWeightsAreMany) {
  for (const int rows : {1, 8, 50}) {
    check({rows, 776, 12296, 1}, Dtype::kBf16);
    check({rows, 12296, 776, 2}, Dtype::kBf16);
  }
  for (int repeat = 0; repeat < 20; ++repeat) {
    check_gemv(776, 12296, Dtype::kBf16);
    check_gemv(12296, 776, Dtype::kBf16);
  }
}

// The MLP of different tokens, all through one h: every kernel reads what the one before wrote, or
// overwrites what it read. They overlap as they can; run one by one, they must give the same bits.
TEST_F(FewRows, RepeatToTheBitWhenLaunchedBackToBack) {
  constexpr int kTokens = 20, kDim = 776, kHidden = 3080;
  std::uint64_t seed = 0;
  const auto tensor = [&](std::int64_t rows, std::int64_t cols, double scale) {
    return random(rows, cols, Dtype::kBf16, scale, ++seed);
  };
  const Tensor gate = tensor(kHidden, kDim, 0.1), up = tensor(kHidden, kDim, 0.1);
  const Tensor down = tensor(kDim, kHidden, 0.1);
  for (const int rows : {1, 8, 64}) {
    const Tensor h = tensor(rows, kHidden, 1);
    const Tensor x = tensor(kTokens * rows, kDim, 2), out = tensor(kTokens * rows, kDim, 1);
    const auto part = [&](const Tensor& all, int token) {
      return Tensor{static_cast<std::byte*>(all.data) + token * all.bytes() / kTokens,
                    {rows, all.cols()},
                    all.dtype};
    };
    const FewRowsPlan first = plan_few_rows({rows, kHidden, kDim, 2}, device_->limits());
    const FewRowsPlan second = plan_few_rows({rows, kDim, kHidden, 1}, device_->limits());
    const auto run = [&](bool one_by_one) {
      device_->poison(out);
      for (int token = 0; token < kTokens; ++token) {
        enqueue_streamed_gated(first, kActivationOf<GeluTanh>, {part(x, token), gate, up, h},
                               device_->stream());
        if (one_by_one) device_->synchronize();
        enqueue_streamed_matmul(second, h, down, part(out, token), device_->stream());
        if (one_by_one) device_->synchronize();
      }
      return bytes(out);
    };
    const Bytes apart = run(true);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(run(false), apart) << rows << " rows";
  }
}

}  // namespace
}  // namespace fusegate::kernels
