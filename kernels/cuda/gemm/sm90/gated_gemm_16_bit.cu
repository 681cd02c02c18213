#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/gated_launch.cuh"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

template <typename T, typename Functor, std::size_t kIndex>
using GemmOf = GatedGemmOf<kGatedTilesSm90, kIndex, T, Functor, sm90::OutputRows>;

}  // namespace

std::string refuses_sm90(const CudaDevice& device) {
  const cudaDeviceProp& gpu = device.properties();
  if (gpu.major != 9 || gpu.minor != 0) {
    return "it needs compute capability 9.0, and " + device.name() + " has " +
           std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
  }
  cudaFuncAttributes code{};
  FUSEGATE_CUDA(cudaFuncGetAttributes(
      &code, reinterpret_cast<const void*>(gated_kernel_of<GemmOf<__nv_bfloat16, GeluTanh, 0>>())));
  const bool is_here = code.binaryVersion == 90 && code.ptxVersion == 90;
  return is_here ? "" : "this program was built without code for sm_90a";
}

std::function<void()> make_gated_gemm_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                           const Activation& activation,
                                           const GatedOperands& operands) {
  const BuiltGated<sm90::OutputRows>* kernel = nullptr;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_16_bit(operands.h.dtype, "gated_gemm_sm90", [&]<typename T>() {
      dispatch_index<kGatedTilesSm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
        kernel = &kBuiltGated<GemmOf<T, Functor, kIndex>>;
      });
    });
  });
  return launch_gated(*kernel, device, plan, operands, output_rows(operands.h));
}

}  // namespace fusegate::kernels
