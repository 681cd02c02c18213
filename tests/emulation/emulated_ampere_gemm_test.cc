// The product for sm_80 itself, compiled for the host: every tile shape around its edges, and over
// several tiles a block.
#include "kernels/cuda/gemm/sm80/gated_gemm_test.h"

namespace fusegate::kernels {
namespace {

TEST_P(GatedGemmSm80, EmulatedAgreesWithTheReferenceAroundEveryEdge) {
  for (const GemmSize& size :
       {GemmSize{1, 8, 8}, {127, 136, 72}, {129, 264, 136}, {300, 520, 40}}) {
    SCOPED_TRACE(testing::Message()
                 << "rows " << size.m << " hidden " << size.n << " dim " << size.k);
    check(size, size.m == 127 ? Dtype::kFp16 : Dtype::kBf16);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, GatedGemmSm80, testing::Range<std::size_t>(0, kGatedTiles.size()));

}  // namespace
}  // namespace fusegate::kernels
