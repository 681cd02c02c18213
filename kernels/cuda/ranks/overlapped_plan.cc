#include "kernels/cuda/ranks/overlapped_plan.h"

#include <fmt/format.h>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

namespace fusegate::kernels {
namespace {

GemmSize part_of(const GemmSize& size, int parts) { return {size.m / parts, size.n, size.k}; }

// Of a cluster.
std::int64_t tiles_of_part(const GemmSize& size, int parts, int cols) {
  return ceil_div(size.m / parts, kWideGemmRows) * ceil_div(size.n, kWideGemmCluster * cols);
}

// Rounds of tiles by their width, which is the time that a product takes.
std::int64_t rounds(const GemmSize& size, int parts, int cols, const GpuLimits& gpu) {
  const std::int64_t clusters = gpu.sm_count / kWideGemmCluster;
  return ceil_div(parts * tiles_of_part(size, parts, cols), clusters) * cols;
}

int tile_cols(const GemmSize& size, int parts, const GpuLimits& gpu) {
  const bool is_narrow_less =
      rounds(size, parts, kNarrowGemmCols, gpu) < rounds(size, parts, kWideGemmCols, gpu);
  return is_narrow_less ? kNarrowGemmCols : kWideGemmCols;
}

}  // namespace

std::string refuses_wide_exchange(const GemmSize& size, int ranks, bool has_rows,
                                  const GpuLimits& gpu) {
  if (ranks > kMostRanks) return fmt::format("it is built for {} ranks at most", kMostRanks);
  if (has_rows && size.m % (static_cast<std::int64_t>(ranks) * kOverlappedRows) != 0) {
    return fmt::format("{} rows are not {} ranks' whole tiles of {}", size.m, ranks,
                       kOverlappedRows);
  }
  if (!is_wide_enough_sm90(size, gpu)) {
    return fmt::format("{} x {} has too few tiles of {} x {} for {} SMs", size.m, size.n,
                       kWideGemmRows, kWideGemmCols, gpu.sm_count);
  }
  const int parts = has_rows ? ranks : 1;
  const std::int64_t tiles =
      tiles_of_part(size, parts, tile_cols(size, parts, gpu)) * kWideGemmCluster;
  return tiles <= kDataFlags ? "" : fmt::format("it has more than {} tiles", kDataFlags);
}

WideExchangePlan plan_wide_exchange(const GemmSize& size, const RankOf& rank, bool has_rows,
                                    const GpuLimits& gpu) {
  const int parts = has_rows ? rank.count : 1, cols = tile_cols(size, parts, gpu);
  const std::int64_t tile_bytes = std::int64_t{2} * kWideGemmCluster * kWideGemmRows * cols;
  return {.raster = {.part = plan_wide_gemm_sm90(part_of(size, parts), gpu, Dtype::kBf16, cols),
                     .parts = parts,
                     .first = (rank.rank + 1) % parts},
          .cols = cols,
          // A rank keeps others' tiles beside its own until they are sent.
          .slot_bytes = parts * tiles_of_part(size, parts, cols) * tile_bytes};
}

GatheringPlan plan_gathering(const GemmSize& size, const RankOf& rank, const GpuLimits& gpu) {
  const GemmSize part = part_of(size, rank.count);
  const std::int64_t row_tiles = ceil_div(part.m, kOverlappedRows);
  return {.raster = {.part = plan_gated_gemm_sm90(part, gpu, kGatheringTile).raster,
                     .parts = rank.count,
                     .first = rank.rank},
          .chunk_rows = static_cast<int>(ceil_div(row_tiles, kGatherChunks) * kOverlappedRows)};
}

}  // namespace fusegate::kernels
