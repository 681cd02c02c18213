// Every tile shape of gated_gemm_sm80 around its edges, against the double-precision reference, in
// memory with guard zones.
#include "kernels/cuda/gemm/sm80/gated_gemm_test.h"

namespace fusegate::kernels {
namespace {

TEST_P(GatedGemmSm80, AgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int rows : edges({1, 7, 8, 127, 128, 129})) {
      for (const int hidden : edges({8, 136, 264})) {
        for (const int dim : edges({8, 72, 136})) {
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
TEST_P(GatedGemmSm80, AgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 3; ++repeat) check({2100, 3080, 200}, Dtype::kBf16);
}

INSTANTIATE_TEST_SUITE_P(Tiles, GatedGemmSm80, testing::Range<std::size_t>(0, kGatedTiles.size()));

}  // namespace
}  // namespace fusegate::kernels
