#include "kernels/cuda/ranks/overlapped_plan.h"

#include <fmt/format.h>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"

namespace fusegate::kernels {
namespace {

// A cluster's tiles of out, in bf16.
constexpr std::int64_t kClusterTileBytes =
    std::int64_t{2} * kWideGemmCluster * kWideGemmRows * kWideGemmCols;

GemmSize part_of(const GemmSize& size, int parts) { return {size.m / parts, size.n, size.k}; }

std::int64_t tiles_of_part(const GemmSize& size, int parts) {
  return ceil_div(size.m / parts, kWideGemmRows) *
         ceil_div(size.n, kWideGemmCluster * kWideGemmCols);
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
  const std::int64_t tiles = tiles_of_part(size, has_rows ? ranks : 1) * kWideGemmCluster;
  return tiles <= kDataFlags ? "" : fmt::format("it has more than {} tiles", kDataFlags);
}

WideExchangePlan plan_wide_exchange(const GemmSize& size, const RankOf& rank, bool has_rows,
                                    const GpuLimits& gpu) {
  const int parts = has_rows ? rank.count : 1;
  return {.raster = {.part = plan_wide_gemm_sm90(part_of(size, parts), gpu),
                     .parts = parts,
                     .first = (rank.rank + 1) % parts},
          // A rank keeps others' tiles beside its own until they are sent.
          .slot_bytes = parts * tiles_of_part(size, parts) * kClusterTileBytes};
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
