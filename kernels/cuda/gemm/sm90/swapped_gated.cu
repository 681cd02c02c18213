#include <stdexcept>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/swapped_gated.cuh"

namespace fusegate::kernels {
namespace {

template <typename T, typename Functor, std::size_t kIndex>
using GemmOf =
    sm90::SwappedGated<T, Functor, kSwappedTilesSm90[kIndex].rows,
                       2 * kSwappedTilesSm90[kIndex].cols, kSwappedTilesSm90[kIndex].halves_rows,
                       kSwappedTilesSm90[kIndex].stages, kSwappedTilesSm90[kIndex].cluster,
                       kSwappedTilesSm90[kIndex].shares_weights>;

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const GatedGemmPlan& plan,
                                  const GatedOperands& o) {
  const auto kernel = sm90::swapped_gated_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, plan.blocks);
  const bool up_is_first = o.w_up.data < o.w_gate.data;
  const sm90::SwappedMaps maps{
      .x = make_stage_map(o.x, Gemm::kLoadedRows),
      .weights = up_is_first ? make_pair_map(o.w_up, o.w_gate, Gemm::kLoadedWeights)
                             : make_pair_map(o.w_gate, o.w_up, Gemm::kLoadedWeights),
      .h = make_tensor_map(o.h, Gemm::Output::kRows, Gemm::Output::kPanel),
  };
  return launch_of(kernel, shape, device.stream(), maps, plan.raster, static_cast<int>(o.x.cols()),
                   up_is_first);
}

}  // namespace

std::function<void()> make_swapped_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation,
                                              const GatedOperands& operands) {
  if (operands.h.dtype != Dtype::kBf16) {
    throw std::invalid_argument("swapped_gated_sm90: it is built for bf16");
  }
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_index<kSwappedTilesSm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
      launch = make_launch<GemmOf<__nv_bfloat16, Functor, kIndex>>(device, plan, operands);
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
