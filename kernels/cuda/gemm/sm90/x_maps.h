// The host's part of XMaps and OutputRows.
#pragma once

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

}  // namespace fusegate::kernels
