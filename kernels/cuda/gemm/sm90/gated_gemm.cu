#include <type_traits>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/gated_gemm.cuh"
#include "kernels/cuda/gemm/sm90/gated_pingpong.cuh"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

template <typename T, typename Functor, std::size_t kIndex>
using GemmOf = std::conditional_t<
    kGatedTilesSm90[kIndex].pingpong,
    sm90::GatedPingpong<T, Functor, kGatedTilesSm90[kIndex].cols, kGatedTilesSm90[kIndex].stages,
                        kGatedTilesSm90[kIndex].cluster>,
    sm90::GatedGemm<T, Functor, kGatedTilesSm90[kIndex].cols, kGatedTilesSm90[kIndex].stages,
                    kGatedTilesSm90[kIndex].cluster, kGatedTilesSm90[kIndex].rows>>;

using GatedKernel = void (*)(sm90::GatedMaps, TileRaster, sm90::OutputRows, int);

template <typename Gemm>
GatedKernel kernel_of() {
  if constexpr (Gemm::kReaders == 1) {
    return sm90::gated_pingpong_kernel<Gemm>;
  } else {
    return sm90::gated_gemm_kernel<Gemm>;
  }
}

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const GatedGemmPlan& plan,
                                  const GatedOperands& o) {
  const GatedKernel kernel = kernel_of<Gemm>();
  const LaunchShape shape = persistent_launch<Gemm>(kernel, plan.blocks);
  const auto weights_map = [](const Tensor& w) {
    return make_tensor_map(w, Gemm::kColumns / Gemm::kPieces, sm90::kStageColumns);
  };
  const sm90::GatedMaps maps{
      .x = make_x_maps(o.x, Gemm::Shape::kRows),
      .w_gate = weights_map(o.w_gate),
      .w_up = weights_map(o.w_up),
      .h = make_tensor_map(o.h, Gemm::Output::kRows, Gemm::Output::kPanel),
  };
  const sm90::OutputRows h = output_rows(o.h);
  return [=, raster = plan.raster, k = static_cast<int>(o.x.cols()), stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, raster, h, k);
  };
}

}  // namespace

std::string refuses_sm90(const CudaDevice& device) {
  const cudaDeviceProp& gpu = device.properties();
  if (gpu.major != 9 || gpu.minor != 0) {
    return "it needs compute capability 9.0, and " + device.name() + " has " +
           std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
  }
  cudaFuncAttributes code{};
  FUSEGATE_CUDA(cudaFuncGetAttributes(
      &code, reinterpret_cast<const void*>(kernel_of<GemmOf<__nv_bfloat16, GeluTanh, 0>>())));
  const bool is_here = code.binaryVersion == 90 && code.ptxVersion == 90;
  return is_here ? "" : "this program was built without code for sm_90a";
}

std::function<void()> make_gated_gemm_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                           const Activation& activation,
                                           const GatedOperands& operands) {
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_16_bit(operands.h.dtype, "gated_gemm_sm90", [&]<typename T>() {
      dispatch_index<kGatedTilesSm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
        launch = make_launch<GemmOf<T, Functor, kIndex>>(device, plan, operands);
      });
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
