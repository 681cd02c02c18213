// The host's part of the kernels for sm_90: XMaps, OutputRows and how they are launched.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>

#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/tensor_map.h"
#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {

// Boxes of so many rows and a stage's columns.
inline CUtensorMap make_stage_map(const Tensor& tensor, int box_rows) {
  return make_tensor_map(tensor, box_rows,
                         sm90::kStageRowBytes / static_cast<int>(dtype_bytes(tensor.dtype)));
}

// x [m, k], m > 0, as for make_tensor_map. tile_rows: of x.
inline sm90::XMaps make_x_maps(const Tensor& x, int tile_rows) {
  const auto rows = static_cast<int>(x.rows());
  const auto boxes = [&](int height) { return make_stage_map(x, height); };
  return {.whole = boxes(sm90::x_box_rows(rows, tile_rows)),
          .last = boxes(sm90::x_last_rows(rows, tile_rows))};
}

inline sm90::OutputRows output_rows(const Tensor& out) {
  return {out.data, static_cast<int>(out.rows()), static_cast<int>(out.cols())};
}

// Calls f.template operator()<Scales>().
template <typename F>
void with_scales(ScaledBy by, F&& f) {
  switch (by) {
    case ScaledBy::kMatrix:
      return f.template operator()<sm90::MatrixScales>();
    case ScaledBy::kRows:
      return f.template operator()<sm90::RowScales>();
    case ScaledBy::kBlocks:
      return f.template operator()<sm90::BlockScales>();
  }
}

inline const float* address_of(const Tensor& scales) {
  return static_cast<const float*>(scales.data);
}

template <typename Scales>
Scales make_scales(const ProductScales& scales, const Tensor& out) {
  Scales made{address_of(scales.x), address_of(scales.w), address_of(scales.out)};
  if constexpr (std::is_same_v<Scales, sm90::RowScales>) {
    made.rows = static_cast<int>(out.rows());
    made.columns = static_cast<int>(out.cols());
  }
  return made;
}

// up: of a gated product's second weight.
template <bool kGated>
sm90::BlockScalesOf<kGated> make_block_scales(const Tensor& x, const Tensor& w, const Tensor& up) {
  return {address_of(x),
          address_of(w),
          address_of(up),
          static_cast<int>(x.rows()),
          static_cast<int>(x.cols()),
          (w.rows() - 1) * x.cols()};
}

// Without the number of blocks. cluster: blocks.
inline LaunchShape block_shape(const void* kernel, int shared_bytes, int cluster) {
  allow_shared_bytes(kernel, shared_bytes);
  return {.blocks = {},
          .threads = sm90::kBlockThreads,
          .shared_bytes = static_cast<std::size_t>(shared_bytes),
          .cluster = static_cast<unsigned>(cluster),
          .early = can_launch_early(kernel)};
}

// With so many clusters, or as many as fit at one time, which then go on to further tiles.
inline LaunchShape persistent_shape(const void* kernel, int shared_bytes, int cluster,
                                    int clusters) {
  LaunchShape shape = block_shape(kernel, shared_bytes, cluster);
  clusters = std::min(clusters, resident_clusters(kernel, shape));
  shape.blocks = dim3(static_cast<unsigned>(clusters * cluster));
  return shape;
}
template <typename Gemm, typename Kernel>
LaunchShape persistent_launch(Kernel* kernel, int clusters) {
  return persistent_shape(reinterpret_cast<const void*>(kernel), Gemm::kSharedBytes, Gemm::kCluster,
                          clusters);
}

// What launches the kernel: one function for all kernels with the same parameters, since one for
// each is as much code as the rest of their host's part.
template <typename... Params>
std::function<void()> launch_of(void (*kernel)(Params...), const LaunchShape& shape,
                                cudaStream_t stream, const std::type_identity_t<Params>&... args) {
  return [=] { launch_kernel(kernel, shape, stream, args...); };
}

}  // namespace fusegate::kernels
