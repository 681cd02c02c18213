// The kernels of few rows themselves, compiled for the host: every shape around its edges.
#include "kernels/cuda/few_rows/few_rows_test.h"

namespace fusegate::kernels {
namespace {

TEST_F(FewRows, EmulatedAgreeWithTheReferenceAroundEveryEdge) {
  for (const int rows : {1, 9, 33}) {
    for (const int cols : {8, 40}) {
      for (const int k : {136, 776}) {
        for (const int weights : {1, 2}) {
          SCOPED_TRACE(testing::Message() << "rows " << rows << " cols " << cols << " k " << k
                                          << " weights " << weights);
          check({rows, cols, k, weights}, rows == 9 ? Dtype::kFp16 : Dtype::kBf16);
        }
      }
    }
  }
}

TEST_F(FewRows, EmulatedOfOneAgreeWithTheReferenceAroundEveryEdge) {
  for (const int cols : {8, 136}) {
    for (const int k : {8, 264, 4104}) {
      SCOPED_TRACE(testing::Message() << "cols " << cols << " k " << k);
      check_gemv(cols, k, k == 264 ? Dtype::kFp16 : Dtype::kBf16);
    }
  }
}

}  // namespace
}  // namespace fusegate::kernels
