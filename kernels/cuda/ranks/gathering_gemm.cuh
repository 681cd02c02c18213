// gated_gemm (gemm/sm90/gated_gemm.cuh) of rows of x that come from all ranks: it begins with this
// rank's own, and the producer waits for a piece of another's when it comes to its first tile.
#pragma once

#include "kernels/cuda/gemm/sm90/gated_gemm.cuh"
#include "kernels/cuda/planted/own_time.cuh"
#include "kernels/cuda/ranks/peer_access.cuh"
#include "kernels/cuda/ranks/ranked_raster.h"

namespace fusegate::kernels::sm90 {

// Its GatedMaps have x's rows of all ranks in x.whole, where this rank's are missing, and these in
// x.last.
struct GatheringWork : GatedWorkOf<RankedRaster> {
  const RankExchange& ranks;
  int chunk_rows = 0;  // of a piece

  template <typename Gemm>
  static constexpr int kTileRows = Gemm::kCluster* Gemm::Shape::kRows;

  template <typename Gemm>
  __device__ void await_x(const TilePosition& tile) const {
    const int of = raster.owner(tile);
    if (of == ranks.rank) return;
    const int chunk = raster.within(tile).row * kTileRows<Gemm> / chunk_rows;
    const auto* const counter = ranks.counter(static_cast<int>(blockIdx.x));
    ranks::wait_for_flag(ranks.gather_flag(ranks.rank, of, chunk), ranks::load_counter(counter));
    ranks::fence_loads_by_tma();
  }
  template <typename Gemm, typename Use>
  __device__ void with_x(const GatedMaps& maps, const TilePosition& tile, const Use& use) const {
    constexpr int kBytes = Gemm::Shape::kRows * kStageRowBytes;
    const int of = raster.owner(tile), row = this->template row<Gemm>(tile);
    if (of == ranks.rank) {
      use(maps.x.last, kBytes, row - of * raster.part.row_tiles * kTileRows<Gemm>);
    } else {
      use(maps.x.whole, kBytes, row);
    }
  }
};

template <typename Gemm>
struct GatheringGemm : Gemm {
  using Work = GatheringWork;
};

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    gathering_gemm_kernel(const __grid_constant__ GatedMaps maps,
                          const __grid_constant__ RankedRaster raster,
                          const __grid_constant__ RankExchange ranks,
                          const __grid_constant__ typename Gemm::Rows h, int k, int chunk_rows) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  run_gated_block<Gemm>(maps, TileShared<Gemm>(raw),
                        {work_of_block<Gemm>(raster, h.rows, k), ranks, chunk_rows}, h);
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
