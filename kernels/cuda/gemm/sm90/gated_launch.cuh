// How the gated products' kernels are launched, whatever their elements.
#pragma once

#include <functional>

#include "kernels/cuda/device/gated_operands.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/gated_tile.cuh"
#include "kernels/cuda/gemm/sm90/launches.h"

namespace fusegate::kernels {

// rows: what the kernel is told of h beside its map.
template <typename Gemm, typename Rows>
std::function<void()> launch_gated(CudaDevice& device, const GatedGemmPlan& plan,
                                   const GatedOperands& o,
                                   void (*kernel)(sm90::GatedMaps, TileRaster, Rows, int),
                                   const Rows& rows) {
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
  return [=, raster = plan.raster, k = static_cast<int>(o.x.cols()), stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, raster, rows, k);
  };
}

}  // namespace fusegate::kernels
