// The gated product of gated_gemm.cuh in tiles of wide_gemm.cuh: 256 rows of x by 96 columns of h,
// so that a stage's 192 rows of weights serve twice the rows of a tile of 128. Fewer bytes through
// the L2 and from shared memory for a product, hence less energy, where the GPU's power is the
// limit; but nothing overlaps a tile's epilogue, which must be short beside its sums.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_tile.cuh"
#include "kernels/cuda/gemm/sm90/wide_gemm.cuh"

namespace fusegate::kernels::sm90 {

struct WideGatedMaps {
  CUtensorMap x, w_gate, w_up, h;  // boxes of 128 rows of x, of a tile's rows of each weight

  __device__ void prefetch() const {
    for (const CUtensorMap* map : {&x, &w_gate, &w_up, &h}) prefetch_map(*map);
  }
};

// kColumns: of h.
template <typename T_, typename Functor_, int kColumns_, int kStages_>
struct WideGated {
  using T = T_;
  using Functor = Functor_;  // the activation
  using Scales = Unscaled;
  static constexpr bool kPromotes = false;
  static constexpr int kColumns = kColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kRows = kConsumers * kTileRows;
  static constexpr int kCluster = 2;
  static constexpr int kReaders = kConsumers;
  using Shape = TileShape<T, 2 * kColumns, kStages, kRows>;
  using Output = OutputTile<T, kColumns, kTileRows>;  // a consumer's
  using Panel = Output;                               // stored at a time
  static constexpr int kHandBytes = Output::kBytes;
  static constexpr int kHandsBytes = kConsumers * kHandBytes;
  static constexpr int kSharedBytes = shared_bytes<Shape>(kHandsBytes);
};

template <typename Gemm>
struct WideGatedConsumer {
  const WideConsumer<Gemm, WideGatedMaps, TileRaster>& gemm;

  __device__ void run() const {
    const auto& work = gemm.work;
    const int number = gemm.number;
    RingPosition<Gemm::kStages> at;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      typename WideConsumer<Gemm, WideGatedMaps, TileRaster>::TileSums d;
      const TilePosition position = work.raster.at(tile);
      gemm.multiply(d, at, position);
      store_gated<Gemm>(gemm.maps, gemm.shared.hand(number), number, d, OutputRows{},
                        work.template column<Gemm>(position),
                        work.template row<Gemm>(position) + number * kTileRows);
    }
    if (threadIdx.x % kWarpgroup == 0) wait_stores();
  }
};

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    wide_gated_kernel(const __grid_constant__ WideGatedMaps maps,
                      const __grid_constant__ TileRaster raster, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const auto work = wide_work_of_block<Gemm>(raster, k);
  start_block(shared, maps);
  let_next_kernel_start();
  run_block<Gemm>(
      [&](int consumer) {
        const WideConsumer<Gemm, WideGatedMaps, TileRaster> gemm{maps, shared, work, consumer, {}};
        WideGatedConsumer<Gemm>{gemm}.run();
      },
      [&] {
        WideProducer<Gemm, WideGatedMaps, TileRaster>{maps, shared, work}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
