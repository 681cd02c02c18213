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

// What the host needs to know of a kernel, so that one function launches all with the same rows.
template <typename Rows>
struct BuiltGated {
  void (*kernel)(sm90::GatedMaps, TileRaster, Rows, int) = nullptr;
  int shared_bytes = 0, cluster = 1;
  int x_rows = 0, weight_rows = 0, out_rows = 0, out_columns = 0;  // of boxes
};

template <typename Gemm>
constexpr auto gated_kernel_of() {
  if constexpr (Gemm::kReaders == 1) {
    return sm90::gated_pingpong_kernel<Gemm>;
  } else {
    return sm90::gated_gemm_kernel<Gemm>;
  }
}

template <typename Gemm>
constexpr BuiltGated<typename Gemm::Rows> kBuiltGated{.kernel = gated_kernel_of<Gemm>(),
                                                      .shared_bytes = Gemm::kSharedBytes,
                                                      .cluster = Gemm::kCluster,
                                                      .x_rows = Gemm::Shape::kRows,
                                                      .weight_rows = Gemm::kColumns / Gemm::kPieces,
                                                      .out_rows = Gemm::Output::kRows,
                                                      .out_columns = Gemm::Output::kPanel};

template <typename Rows>
std::function<void()> launch_gated(const BuiltGated<Rows>& of, CudaDevice& device,
                                   const GatedGemmPlan& plan, const GatedOperands& o,
                                   const Rows& rows) {
  const LaunchShape shape = persistent_shape(reinterpret_cast<const void*>(of.kernel),
                                             of.shared_bytes, of.cluster, plan.blocks);
  const sm90::GatedMaps maps{
      .x = make_x_maps(o.x, of.x_rows),
      .w_gate = make_stage_map(o.w_gate, of.weight_rows),
      .w_up = make_stage_map(o.w_up, of.weight_rows),
      .h = make_tensor_map(o.h, of.out_rows, of.out_columns),
  };
  return launch_of(of.kernel, shape, device.stream(), maps, plan.raster, rows,
                   static_cast<int>(o.x.cols()));
}

}  // namespace fusegate::kernels
