// The kernels for sm_90 themselves, compiled for the host: every tile shape around its edges, and
// over several tiles a block. Each launch draws another order of its threads and copies.
#include "kernels/cuda/gemm/sm90/hopper_gemm_test.h"

namespace fusegate::kernels {
namespace {

TEST_F(HopperGemm, EmulatedGatedAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    for (const GemmSize& size : {GemmSize{1, 8, 8},
                                 {64, 136, 72},
                                 {127, 104, 136},
                                 {128, 264, 64},
                                 {129, 96, 520},
                                 {257, 200, 72}}) {
      SCOPED_TRACE(testing::Message() << "tile " << tile << " rows " << size.m << " hidden "
                                      << size.n << " dim " << size.k);
      check_gated(size, size.m % 2 == 0 ? Dtype::kBf16 : Dtype::kFp16, tile);
    }
  }
}

// The ring, the barriers' phases and the staging of stores go round several times.
TEST_F(HopperGemm, EmulatedGatedAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    check_gated({1000, 520, 200}, Dtype::kBf16, tile);
    check_gated({140, 264, 1032}, Dtype::kBf16, tile);
  }
}

TEST_F(HopperGemm, EmulatedSwappedAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    for (const GemmSize& size : {GemmSize{1, 8, 8},
                                 {72, 136, 72},
                                 {105, 104, 136},
                                 {128, 264, 64},
                                 {209, 96, 520},
                                 {257, 200, 72}}) {
      SCOPED_TRACE(testing::Message() << "tile " << tile << " rows " << size.m << " hidden "
                                      << size.n << " dim " << size.k);
      check_swapped(size, tile);
    }
  }
}

TEST_F(HopperGemm, EmulatedSwappedAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    check_swapped({600, 1000, 200}, tile);
    check_swapped({140, 520, 840}, tile);
  }
}

// Clusters have 1.25 to 2.5 tiles each; of k, two steps to more than a ring's. Tiles of many rows
// also lie one above the other.
TEST_F(HopperGemm, EmulatedStreamKAgreesWithTheReference) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    const SwappedTileSm90& shape = kSwappedTilesSm90[tile];
    const int clusters = 8 / shape.cluster;
    const int across = shape.shares_weights ? shape.cols : shape.cols * shape.cluster;
    const auto check = [&](int down, int tiles, int k) {
      const GemmSize size{down * shape.rows - 3, across * tiles - 8, k};
      SCOPED_TRACE(testing::Message() << "tile " << tile << " rows " << size.m << " hidden "
                                      << size.n << " dim " << k);
      check_swapped(size, tile, true);
    };
    check(1, clusters + 1, 72);
    check(1, 2 * clusters - 1, 520);
    check(1, 2 * clusters + 1, 136);
    if (shape.rows >= 208) check(3, clusters - 1, 136);
  }
}

TEST_F(HopperGemm, EmulatedWideGatedAgreesWithTheReferenceAroundEveryEdge) {
  for (const GemmSize& size :
       {GemmSize{1, 8, 8}, {129, 96, 72}, {257, 200, 264}, {256, 104, 64}, {900, 392, 200}}) {
    SCOPED_TRACE(testing::Message()
                 << "rows " << size.m << " hidden " << size.n << " dim " << size.k);
    check_wide_gated(size);
  }
}

TEST_F(HopperGemm, EmulatedKeepingAgreesWithTheReferenceAroundEveryEdge) {
  check_keeping({{1, 8, 8}, {64, 136, 72}, {127, 200, 136}, {129, 96, 64}, {257, 104, 520}});
}

TEST_F(HopperGemm, EmulatedKeepingAgreesWithTheReferenceOverManyTilesABlock) {
  check_keeping({1300, 1160, 200}, true);
}

TEST_F(HopperGemm, EmulatedBackwardAgreesWithTheReferenceAroundEveryEdge) {
  check_backward({{1, 8, 8}, {64, 136, 72}, {127, 200, 136}, {129, 392, 64}, {257, 96, 520}});
}

TEST_F(HopperGemm, EmulatedBackwardAgreesWithTheReferenceOverManyTilesABlock) {
  check_backward({1300, 1160, 200}, true);
}

TEST_F(HopperGemm, EmulatedFp8AgreesWithTheReferenceAroundEveryEdge) {
  for (const GemmSize& size :
       {GemmSize{1, 16, 16}, {64, 144, 80}, {128, 272, 128}, {129, 96, 1040}, {257, 208, 144}}) {
    SCOPED_TRACE(testing::Message()
                 << "rows " << size.m << " hidden " << size.n << " dim " << size.k);
    for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
      check_gated_fp8(size, tile);
    }
    check_wide_fp8(size);
  }
}

TEST_F(HopperGemm, EmulatedFp8AgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    check_gated_fp8({1000, 528, 400}, tile);
  }
  check_wide_fp8({1200, 1008, 1040});
}

TEST_F(HopperGemm, EmulatedSplitAgreesWithTheReferenceAroundEveryEdge) {
  for (const int m : {1, 64, 127, 128, 129, 257}) {
    for (const int n : {8, 40, 136}) {
      for (const int k : {256, 264, 1032}) {
        check_split({m, n, k}, m % 2 == 0 ? Dtype::kBf16 : Dtype::kFp16, 8);
      }
    }
  }
}

// Of which several clusters are one beside the other, and one above the other.
TEST_F(HopperGemm, EmulatedSplitAgreesWithTheReferenceOverManyClusters) {
  for (const int m : {60, 300}) {
    for (const int n : {88, 520}) check_split({m, n, 520}, Dtype::kBf16, 132);
  }
}

// A block's part of k goes round the ring several times.
TEST_F(HopperGemm, EmulatedSplitAgreesWithTheReferenceOverManyStages) {
  for (const int k : {4040, 6152}) check_split({60, 88, k}, Dtype::kBf16, 132);
}

TEST_F(HopperGemm, EmulatedWideAgreesWithTheReferenceAroundEveryEdge) {
  for (const int m : {1, 129, 257}) {
    for (const int n : {8, 200, 392}) {
      for (const int k : {8, 264}) check_wide({m, n, k}, m == 129 ? Dtype::kFp16 : Dtype::kBf16);
    }
  }
}

TEST_F(HopperGemm, EmulatedWideAgreesWithTheReferenceOverManyTilesABlock) {
  check_wide({1200, 1000, 520}, Dtype::kBf16);
}

}  // namespace
}  // namespace fusegate::kernels
