#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm80/gated_gemm.cuh"
#include "kernels/cuda/gemm/sm80/gated_gemm.h"

namespace fusegate::kernels {
namespace {

template <std::size_t kIndex>
struct Shape {
  static constexpr GatedTile kTile = kGatedTiles[kIndex];
};

template <typename T, typename Functor, typename Shape>
struct Variant {
  using Element = T;
  static constexpr GatedTile kTile = Shape::kTile;
  static constexpr auto kKernel = sm80::gated_gemm_kernel<T, Functor, Shape>;
};

// Calls f with the Variant for the tile shape, the activation and the dtype.
template <typename F>
void dispatch(std::size_t tile, const Activation& activation, Dtype dtype, F&& f) {
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_16_bit(dtype, "gated_gemm_sm80", [&]<typename T>() {
      dispatch_index<kGatedTiles.size()>(
          tile, [&]<std::size_t kIndex>() { f(Variant<T, Functor, Shape<kIndex>>{}); });
    });
  });
}

}  // namespace

void prepare_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation, Dtype dtype) {
  dispatch(plan.tile, activation, dtype, [](auto variant) {
    const auto* const kernel = reinterpret_cast<const void*>(variant.kKernel);
    allow_shared_bytes(kernel, variant.kTile.shared_bytes());
    prefer_shared_memory(kernel);
  });
}

void enqueue_gated_gemm_sm80(const GatedGemmPlan& plan, const Activation& activation,
                             const GatedOperands& o, cudaStream_t stream) {
  dispatch(plan.tile, activation, o.h.dtype, [&](auto variant) {
    using T = typename decltype(variant)::Element;
    const sm80::GatedGemmArguments<T> arguments{.x = static_cast<const T*>(o.x.data),
                                                .w_gate = static_cast<const T*>(o.w_gate.data),
                                                .w_up = static_cast<const T*>(o.w_up.data),
                                                .h = static_cast<T*>(o.h.data),
                                                .rows = static_cast<int>(o.h.rows()),
                                                .hidden = static_cast<int>(o.h.cols()),
                                                .dim = static_cast<int>(o.x.cols()),
                                                .raster = plan.raster};
    constexpr GatedTile kTile = variant.kTile;
    launch_kernel(variant.kKernel,
                  {.blocks = dim3(static_cast<unsigned>(plan.blocks)),
                   .threads = dim3(static_cast<unsigned>(kTile.threads())),
                   .shared_bytes = static_cast<std::size_t>(kTile.shared_bytes())},
                  stream, arguments);
  });
}

}  // namespace fusegate::kernels
