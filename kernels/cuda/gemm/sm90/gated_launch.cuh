// How the gated products' kernels are launched, whatever their elements.
#pragma once

#include <functional>
#include <type_traits>

#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/gated_gemm.cuh"
#include "kernels/cuda/gemm/sm90/gated_pingpong.cuh"
#include "kernels/cuda/gemm/sm90/launches.h"

namespace fusegate::kernels {

// Of a tile of a table. Rows: what a kernel knows of h beside its map.
template <const auto& kTiles, std::size_t kIndex, typename T, typename Functor, typename Rows>
using GatedGemmOf = std::conditional_t<
    kTiles[kIndex].pingpong,
    sm90::GatedPingpong<T, Functor, kTiles[kIndex].cols, kTiles[kIndex].stages,
                        kTiles[kIndex].cluster, Rows>,
    sm90::GatedGemm<T, Functor, kTiles[kIndex].cols, kTiles[kIndex].stages, kTiles[kIndex].cluster,
                    kTiles[kIndex].rows, Rows, kTiles[kIndex].promotes>>;

template <typename Gemm>
using GatedKernel = void (*)(sm90::GatedMaps, TileRaster, typename Gemm::Rows, int);

template <typename Gemm>
GatedKernel<Gemm> gated_kernel_of() {
  if constexpr (Gemm::kReaders == 1) {
    return sm90::gated_pingpong_kernel<Gemm>;
  } else {
    return sm90::gated_gemm_kernel<Gemm>;
  }
}

template <typename Gemm>
std::function<void()> launch_gated(CudaDevice& device, const GatedGemmPlan& plan,
                                   const GatedOperands& o, const typename Gemm::Rows& rows) {
  const GatedKernel<Gemm> kernel = gated_kernel_of<Gemm>();
  const LaunchShape shape = persistent_launch<Gemm>(kernel, plan.blocks);
  const auto weights_map = [](const Tensor& w) {
    return make_stage_map(w, Gemm::kColumns / Gemm::kPieces);
  };
  const sm90::GatedMaps maps{
      .x = make_x_maps(o.x, Gemm::Shape::kRows),
      .w_gate = weights_map(o.w_gate),
      .w_up = weights_map(o.w_up),
      .h = make_tensor_map(o.h, Gemm::Output::kRows, Gemm::Output::kPanel),
  };
  return launch_of(kernel, shape, device.stream(), maps, plan.raster, rows,
                   static_cast<int>(o.x.cols()));
}

}  // namespace fusegate::kernels
