// How the products that exchange data with other ranks while they run are cut, and in which order.
// Plain C++, tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/gemm/gemm_size.h"
#include "kernels/cuda/ranks/rank_exchange.h"
#include "kernels/cuda/ranks/ranked_raster.h"

namespace fusegate::kernels {

// Rows of a rank: whole tiles of both products.
inline constexpr int kOverlappedRows = 256;
// Of x, in which a rank sends its rows: as many pieces, but whole tiles.
inline constexpr int kGatherChunks = 4;
static_assert(kGatherChunks <= kGatherFlags);

// Of kGatedTilesSm90: 256 x 128, by a cluster.
inline constexpr std::size_t kGatheringTile = 1;

// A rank among others.
struct RankOf {
  int rank = 0;
  int count = 1;
};

// Of out = sum over ranks of h w^T (who adds up a tile: wide_exchange.cuh). Where rows are split, a
// rank begins with others'. Tiles are as wide as leaves the SMs idle least: 4096 columns of 2048
// rows are 88 pairs of tiles of 192 and 128 of 128, two rounds of 66 clusters both.
struct WideExchangePlan {
  RankedRaster raster;  // of tiles of a cluster, two side by side
  int cols = 0;         // of a tile
  std::int64_t slot_bytes = 0;
};

// Why the problem's out cannot be cut so, "" where it can. size: of the whole of out.
std::string refuses_wide_exchange(const GemmSize& size, int ranks, bool has_rows,
                                  const GpuLimits& gpu);
WideExchangePlan plan_wide_exchange(const GemmSize& size, const RankOf& rank, bool has_rows,
                                    const GpuLimits& gpu);

// Of h = activation(x w_gate^T) * (x w_up^T) whose rows of x come from all ranks.
struct GatheringPlan {
  RankedRaster raster;  // begins with this rank's rows
  int chunk_rows = 0;   // of a piece that a rank sends
};
GatheringPlan plan_gathering(const GemmSize& size, const RankOf& rank, const GpuLimits& gpu);

}  // namespace fusegate::kernels
