// Every plan of gemv around its edges, against the double-precision reference, in memory with guard
// zones.
#include "kernels/cuda/few_rows/few_rows_test.h"

namespace fusegate::kernels {
namespace {

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
