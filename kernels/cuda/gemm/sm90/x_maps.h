// The host's part of XMaps.
#pragma once

#include "kernels/cuda/gemm/sm90/gemm_tile.cuh"
#include "kernels/cuda/gemm/sm90/tensor_map.h"

namespace fusegate::kernels {

// x [m, k], m > 0, as make_tensor_map wants it.
inline sm90::XMaps make_x_maps(const Tensor& x) {
  const auto rows = static_cast<int>(x.rows());
  const auto boxes = [&](int height) { return make_tensor_map(x, height, sm90::kStageColumns); };
  return {.whole = boxes(sm90::x_box_rows(rows)), .last = boxes(sm90::x_last_rows(rows))};
}

}  // namespace fusegate::kernels
