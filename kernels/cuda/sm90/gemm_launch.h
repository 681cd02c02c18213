// The host's side of the Hopper GEMMs: tensor maps and launches.
#pragma once

#include <functional>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/dependent_launch.h"
#include "kernels/cuda/sm90/gemm_tile.cuh"
#include "kernels/cuda/tensor_map.h"

namespace fusegate::sm90 {

// out = x w^T, or, gated, by w_first (gate) and w_second (up).
struct GemmTensors {
  Tensor x, w_first, w_second, out;
};

template <typename Shape>
GemmMaps make_maps(const GemmTensors& tensors, int out_rows, int out_columns) {
  return {.x = make_tensor_map(tensors.x, kTileRows, kStageColumns),
          .w_first = make_tensor_map(tensors.w_first, Shape::kWidth / 2, kStageColumns),
          .w_second = make_tensor_map(tensors.w_second, Shape::kWidth / 2, kStageColumns),
          .out = make_tensor_map(tensors.out, out_rows, out_columns)};
}

template <typename Kernel>
void allow_shared_bytes(Kernel* kernel, int bytes) {
  FUSEGATE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace fusegate::sm90
