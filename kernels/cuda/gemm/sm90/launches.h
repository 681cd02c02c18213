// The host's part of the kernels for sm_90: XMaps, OutputRows and how they are launched.
#pragma once

#include <algorithm>

#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/sm90/tensor_map.h"

namespace fusegate::kernels {

// x [m, k], m > 0, as for make_tensor_map. tile_rows: of x.
inline sm90::XMaps make_x_maps(const Tensor& x, int tile_rows) {
  const auto rows = static_cast<int>(x.rows());
  const auto boxes = [&](int height) { return make_tensor_map(x, height, sm90::kStageColumns); };
  return {.whole = boxes(sm90::x_box_rows(rows, tile_rows)),
          .last = boxes(sm90::x_last_rows(rows, tile_rows))};
}

inline sm90::OutputRows output_rows(const Tensor& out) {
  return {out.data, static_cast<int>(out.rows()), static_cast<int>(out.cols())};
}

// Without the number of blocks. cluster: blocks.
template <typename Gemm, typename Kernel>
LaunchShape block_shape(Kernel* kernel, int cluster) {
  allow_shared_bytes(kernel, Gemm::kSharedBytes);
  return {.blocks = {},
          .threads = sm90::kBlockThreads,
          .shared_bytes = Gemm::kSharedBytes,
          .cluster = static_cast<unsigned>(cluster),
          .early = can_launch_early(reinterpret_cast<const void*>(kernel))};
}

// With so many clusters, or as many as fit at one time, which then go on to further tiles.
template <typename Gemm, typename Kernel>
LaunchShape persistent_launch(Kernel* kernel, int clusters) {
  LaunchShape shape = block_shape<Gemm>(kernel, Gemm::kCluster);
  clusters = std::min(clusters, resident_clusters(kernel, shape));
  shape.blocks = dim3(static_cast<unsigned>(clusters * Gemm::kCluster));
  return shape;
}

}  // namespace fusegate::kernels
