#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.cuh"

namespace fusegate::kernels {
namespace {

template <typename Gemm, typename... Scales>
std::function<void()> make_launch(CudaDevice& device, const TileRaster& raster, const Tensor& x,
                                  const Tensor& w, const Tensor& out, const Scales&... scales) {
  static_assert(Gemm::kRows == kWideGemmRows && Gemm::kCluster == kWideGemmCluster);
  const auto kernel = sm90::wide_gemm_kernel<Gemm, Scales...>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, raster.count());
  const sm90::WideMaps maps{
      .x = make_stage_map(x, sm90::kTileRows),
      .w = make_stage_map(w, Gemm::kColumns / 2),
      .out = make_tensor_map(out, Gemm::Panel::kRows, Gemm::Panel::kPanel),
  };
  return launch_of(kernel, shape, device.stream(), maps, raster, static_cast<int>(x.cols()),
                   scales...);
}

}  // namespace

std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const TileRaster& raster,
                                          const Tensor& x, const Tensor& w, const Tensor& out) {
  return dispatch_16_bit(out.dtype, "wide_gemm_sm90", [&]<typename T>() {
    using Gemm = sm90::WideGemm<T, kWideGemmCols, kWideGemmStages>;
    return make_launch<Gemm>(device, raster, x, w, out);
  });
}

std::function<void()> make_wide_gemm_fp8_sm90(CudaDevice& device, const TileRaster& raster,
                                              const Tensor& x, const Tensor& w, const Tensor& out,
                                              const ProductScales& scales, bool promotes) {
  const auto make = [&]<typename Scales, bool kPromotes>(const Scales& made) {
    constexpr int kCols = kPromotes ? kNarrowGemmCols : kWideGemmCols;
    constexpr int kStages = kPromotes ? kNarrowGemmStages : kWideGemmStages;
    using Gemm = sm90::WideGemm<__nv_fp8_e4m3, kCols, kStages, __nv_bfloat16, Scales, kPromotes>;
    return make_launch<Gemm>(device, raster, x, w, out, made);
  };
  using sm90::MatrixScales, sm90::RowScales, sm90::BlockScales;
  switch (scales.by) {
    case ScaledBy::kMatrix: {
      const auto made = make_scales<MatrixScales>(scales, out);
      return promotes ? make.operator()<MatrixScales, true>(made)
                      : make.operator()<MatrixScales, false>(made);
    }
    case ScaledBy::kRows:
      return make.operator()<RowScales, false>(make_scales<RowScales>(scales, out));
    case ScaledBy::kBlocks:
      return make.operator()<BlockScales, true>(make_block_scales<false>(scales.x, scales.w, {}));
  }
  return {};
}

}  // namespace fusegate::kernels
