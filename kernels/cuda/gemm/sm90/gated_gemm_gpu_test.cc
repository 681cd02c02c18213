// Every tile shape of gated_gemm_sm90, swapped_gated_sm90, keeping_gated_sm90, backward_gemm_sm90,
// split_gemm_sm90 and wide_gemm_sm90, around their edges.
#include "kernels/cuda/gemm/sm90/hopper_gemm_test.h"

namespace fusegate::kernels {
namespace {

TEST_F(HopperGemm, GatedAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
      for (const int rows : edges({1, 7, 8, 127, 128, 129, 257})) {
        for (const int hidden : edges({8, 136, 264})) {
          for (const int dim : edges({8, 72, 136})) {
            SCOPED_TRACE(testing::Message()
                         << "tile " << tile << " " << dtype_name(dtype) << " rows " << rows
                         << " hidden " << hidden << " dim " << dim);
            check_gated({rows, hidden, dim}, dtype, tile);
          }
        }
      }
    }
  }
}

// The ring, the barriers' phases and the staging of stores go round many times.
TEST_F(HopperGemm, GatedAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 20; ++repeat) check_gated({1000, 8200, 200}, Dtype::kBf16, tile);
  }
}

TEST_F(HopperGemm, SwappedAgreesWithTheReferenceAroundEveryEdge) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    for (const int rows : edges({1, 71, 104, 105, 129, 257})) {
      for (const int hidden : edges({8, 136, 264})) {
        for (const int dim : edges({8, 72, 136})) {
          SCOPED_TRACE(testing::Message() << "tile " << tile << " rows " << rows << " hidden "
                                          << hidden << " dim " << dim);
          check_swapped({rows, hidden, dim}, tile);
        }
      }
    }
  }
}

TEST_F(HopperGemm, SwappedAgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 20; ++repeat) {
      check_swapped({700, 10000, 200}, tile);
    }
  }
}

// Of clusters that give each other sums, whichever is at work first.
TEST_F(HopperGemm, StreamKAgreesWithTheReference) {
  for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
    const SwappedTileSm90& shape = kSwappedTilesSm90[tile];
    const int clusters = device_->limits().sm_count / shape.cluster;
    const int across = shape.shares_weights ? shape.cols : shape.cols * shape.cluster;
    const auto check = [&](int down, int tiles, int k) {
      const GemmSize size{down * shape.rows - 3, across * tiles - 8, k};
      SCOPED_TRACE(testing::Message() << "tile " << tile << " rows " << size.m << " hidden "
                                      << size.n << " dim " << k);
      for (int repeat = 0; repeat < 10; ++repeat) check_swapped(size, tile, true);
    };
    for (const int tiles : edges({clusters + 1, clusters + clusters / 2, 2 * clusters - 1})) {
      for (const int k : edges({72, 520, 2056})) check(1, tiles, k);
    }
    if (shape.rows >= 208) check(2, clusters - 1, 200);
  }
}

TEST_F(HopperGemm, WideGatedAgreesWithTheReferenceAroundEveryEdge) {
  for (const int rows : edges({1, 128, 129, 256, 257})) {
    for (const int hidden : edges({8, 96, 104, 192, 200})) {
      for (const int dim : edges({8, 72, 264})) {
        SCOPED_TRACE(testing::Message()
                     << "rows " << rows << " hidden " << hidden << " dim " << dim);
        check_wide_gated({rows, hidden, dim});
      }
    }
  }
}

TEST_F(HopperGemm, WideGatedAgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 5; ++repeat) check_wide_gated({3000, 8200, 200});
}

TEST_F(HopperGemm, KeepingAgreesWithTheReferenceAroundEveryEdge) {
  check_keeping(
      sizes(edges({1, 7, 64, 127, 129, 257}), edges({8, 88, 96, 104, 200}), edges({8, 72, 136})));
}

TEST_F(HopperGemm, KeepingAgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 10; ++repeat) check_keeping({1000, 8200, 200}, true);
}

TEST_F(HopperGemm, BackwardAgreesWithTheReferenceAroundEveryEdge) {
  check_backward(
      sizes(edges({1, 7, 64, 127, 129, 257}), edges({8, 136, 192, 200, 392}), edges({8, 72, 136})));
}

TEST_F(HopperGemm, BackwardAgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 10; ++repeat) check_backward({1000, 8200, 200}, true);
}

TEST_F(HopperGemm, Fp8AgreesWithTheReferenceAroundEveryEdge) {
  for (const int m : edges({1, 7, 8, 127, 128, 129, 257})) {
    for (const int n : edges({16, 144, 272})) {
      for (const int k : edges({16, 144, 272})) {
        SCOPED_TRACE(testing::Message() << "rows " << m << " hidden " << n << " dim " << k);
        for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
          check_gated_fp8({m, n, k}, tile);
        }
        check_wide_fp8({m, n, k});
      }
    }
  }
}

TEST_F(HopperGemm, Fp8AgreesWithTheReferenceOverManyTilesABlock) {
  for (std::size_t tile = 0; tile < kGatedTilesFp8Sm90.size(); ++tile) {
    SCOPED_TRACE(testing::Message() << "tile " << tile);
    for (int repeat = 0; repeat < 10; ++repeat) check_gated_fp8({1000, 8208, 400}, tile);
  }
  for (int repeat = 0; repeat < 5; ++repeat) check_wide_fp8({6000, 4208, 1040});
}

TEST_F(HopperGemm, SplitAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : edges({1, 7, 8, 127, 128, 129, 257})) {
      for (const int n : edges({8, 40, 768})) {
        for (const int k : edges({256, 264, 3072})) {
          check_split({m, n, k}, dtype, device_->limits().sm_count);
        }
      }
    }
  }
}

// As many clusters as fit the GPU at one time, and more, over and over.
TEST_F(HopperGemm, SplitAgreesWithTheReferenceOverManyClusters) {
  const int sms = device_->limits().sm_count;
  for (const int m : {60, 130, 250, 300}) {
    for (const int n : {88, 3584, 4096}) {
      for (int repeat = 0; repeat < 2; ++repeat) {
        check_split({m, n, 2056}, Dtype::kBf16, 2 * sms);
      }
    }
  }
}

// Rings go round many times.
TEST_F(HopperGemm, AgreesWithTheReferenceOverManyStages) {
  for (const int m : edges({64, 130, 250})) {
    SCOPED_TRACE(testing::Message() << "rows " << m);
    check_split({m, 3584, 14344}, Dtype::kBf16, 2 * device_->limits().sm_count);
    for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
      check_gated({m, 3800, 3592}, Dtype::kBf16, tile);
    }
    for (std::size_t tile = 0; tile < kSwappedTilesSm90.size(); ++tile) {
      check_swapped({m, 3800, 3592}, tile);
    }
  }
}

TEST_F(HopperGemm, WideAgreesWithTheReferenceAroundEveryEdge) {
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16}) {
    for (const int m : edges({1, 128, 129, 255, 256, 257})) {
      for (const int n : edges({8, 184, 192, 200, 384, 392})) {
        for (const int k : edges({8, 72, 264})) check_wide({m, n, k}, dtype);
      }
    }
  }
}

TEST_F(HopperGemm, WideAgreesWithTheReferenceOverManyTilesABlock) {
  for (int repeat = 0; repeat < 5; ++repeat) check_wide({6000, 4200, 520}, Dtype::kBf16);
}

}  // namespace
}  // namespace fusegate::kernels
