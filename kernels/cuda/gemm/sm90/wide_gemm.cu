#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.cuh"

namespace fusegate::kernels {
namespace {

template <typename T>
std::function<void()> make_launch(CudaDevice& device, const TileRaster& raster, const Tensor& x,
                                  const Tensor& w, const Tensor& out) {
  using Gemm = sm90::WideGemm<T, kWideGemmCols, kWideGemmStages>;
  static_assert(Gemm::kRows == kWideGemmRows && Gemm::kCluster == kWideGemmCluster);
  const auto kernel = sm90::wide_gemm_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, raster.count());
  const sm90::WideMaps maps{
      .x = make_tensor_map(x, sm90::kTileRows, sm90::kStageColumns),
      .w = make_tensor_map(w, Gemm::kColumns / 2, sm90::kStageColumns),
      .out = make_tensor_map(out, Gemm::Panel::kRows, Gemm::Panel::kPanel),
  };
  return [=, k = static_cast<int>(x.cols()), stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, raster, k);
  };
}

}  // namespace

std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const TileRaster& raster,
                                          const Tensor& x, const Tensor& w, const Tensor& out) {
  return dispatch_16_bit(out.dtype, "wide_gemm_sm90",
                         [&]<typename T>() { return make_launch<T>(device, raster, x, w, out); });
}

}  // namespace fusegate::kernels
