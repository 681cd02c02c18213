#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/gated_launch.cuh"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

template <typename Functor, std::size_t kIndex, typename Scales>
using Fp8GemmOf =
    GatedGemmOf<kGatedTilesFp8Sm90, kIndex, __nv_fp8_e4m3, Functor, sm90::QuantizedRows<Scales>>;

}  // namespace

std::function<void()> make_gated_gemm_fp8_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                               const Activation& activation,
                                               const GatedOperands& operands,
                                               const GatedScales& scales) {
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_index<kGatedTilesFp8Sm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
      with_scales(scales.of_rows, [&]<typename Scales>() {
        using Gemm = Fp8GemmOf<Functor, kIndex, Scales>;
        const auto of = [&](const Tensor& w, const Tensor& out) {
          return make_scales<Scales>({scales.x, w, out}, operands.h);
        };
        launch =
            launch_gated<Gemm>(device, plan, operands,
                               typename Gemm::Rows{.rows = static_cast<int>(operands.h.rows()),
                                                   .columns = static_cast<int>(operands.h.cols()),
                                                   .of_gate = of(scales.w_gate, {}),
                                                   .of_up = of(scales.w_up, scales.h)});
      });
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
