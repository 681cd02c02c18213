#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/gated_launch.cuh"
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
        using Gemm = GemmOf<T, Functor, kIndex>;
        launch = launch_gated<Gemm>(device, plan, operands, output_rows(operands.h));
      });
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
