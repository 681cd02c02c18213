#include <stdexcept>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/wide_gated.cuh"

namespace fusegate::kernels {
namespace {

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const TileRaster& raster,
                                  const GatedOperands& o) {
  static_assert(Gemm::kRows == kWideGemmRows && Gemm::kCluster == kWideGemmCluster);
  const auto kernel = sm90::wide_gated_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, raster.count());
  const sm90::WideGatedMaps maps{
      .x = make_stage_map(o.x, sm90::kTileRows),
      .w_gate = make_stage_map(o.w_gate, Gemm::kColumns),
      .w_up = make_stage_map(o.w_up, Gemm::kColumns),
      .h = make_tensor_map(o.h, Gemm::Output::kRows, Gemm::Output::kPanel),
  };
  return launch_of(kernel, shape, device.stream(), maps, raster, static_cast<int>(o.x.cols()));
}

}  // namespace

std::function<void()> make_wide_gated_sm90(CudaDevice& device, const TileRaster& raster,
                                           const Activation& activation,
                                           const GatedOperands& operands) {
  if (operands.h.dtype != Dtype::kBf16) {
    throw std::invalid_argument("wide_gated_sm90: it is built for bf16");
  }
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    using Gemm = sm90::WideGated<__nv_bfloat16, Functor, kWideGatedCols, kWideGemmStages>;
    launch = make_launch<Gemm>(device, raster, operands);
  });
  return launch;
}

}  // namespace fusegate::kernels
