#include <stdexcept>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/gated_launch.cuh"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

using sm90::QuantizedRows;

// Those that implementations take: others would only be compiled.
constexpr bool is_built(const GatedTileSm90& tile, ScaledBy scales) {
  return scales == ScaledBy::kMatrix || tile.promotes == (scales == ScaledBy::kBlocks);
}

template <typename Scales>
constexpr ScaledBy kScaledBy = std::is_same_v<Scales, sm90::MatrixScales> ? ScaledBy::kMatrix
                               : std::is_same_v<Scales, sm90::RowScales>  ? ScaledBy::kRows
                                                                          : ScaledBy::kBlocks;

template <typename Scales>
QuantizedRows<Scales> rows_of(const GatedScales& scales, const Tensor& h) {
  const auto rows = static_cast<int>(h.rows()), columns = static_cast<int>(h.cols());
  if constexpr (kScaledBy<Scales> == ScaledBy::kBlocks) {
    return {rows, columns, make_block_scales<true>(scales.x, scales.w_gate, scales.w_up),
            static_cast<float*>(scales.h.data)};
  } else {
    return {rows, columns, make_scales<Scales>({scales.x, scales.w_gate, {}}, h),
            make_scales<Scales>({scales.x, scales.w_up, scales.h}, h)};
  }
}

}  // namespace

bool is_built_fp8_sm90(std::size_t tile, ScaledBy scales) {
  return is_built(kGatedTilesFp8Sm90.at(tile), scales);
}

std::function<void()> make_gated_gemm_fp8_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                               const Activation& activation,
                                               const GatedOperands& operands,
                                               const GatedScales& scales) {
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_index<kGatedTilesFp8Sm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
      with_scales(scales.by, [&]<typename Scales>() {
        if constexpr (is_built(kGatedTilesFp8Sm90[kIndex], kScaledBy<Scales>)) {
          using Gemm = GatedGemmOf<kGatedTilesFp8Sm90, kIndex, __nv_fp8_e4m3, Functor,
                                   QuantizedRows<Scales>>;
          launch = launch_gated(kBuiltGated<Gemm>, device, plan, operands,
                                rows_of<Scales>(scales, operands.h));
        }
      });
    });
  });
  if (!launch) throw std::invalid_argument("gated_gemm_fp8_sm90 is not built for that tile");
  return launch;
}

}  // namespace fusegate::kernels
