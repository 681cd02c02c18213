#include <cuda_fp8.h>

#include "kernels/activations/activations.h"
#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/planted/own_time.cuh"
#include "kernels/cuda/pointwise/pointwise_body.cuh"
#include "kernels/cuda/pointwise/quantized_gated.h"

namespace fusegate::kernels {
namespace {

constexpr unsigned kQuantizedThreads = 256;

template <typename Functor>
__device__ unsigned quantized_pair(unsigned g, unsigned u, float factor) {
  const float first = Functor::of(Bf16::first(g)) * Bf16::first(u) * factor;
  const float second = Functor::of(Bf16::second(g)) * Bf16::second(u) * factor;
  return __nv_cvt_float2_to_fp8x2({first, second}, __NV_SATFINITE, __NV_E4M3);
}

// A thread has eight elements, a pack of g and of u.
template <typename Functor>
__global__ void __launch_bounds__(kQuantizedThreads)
    quantized_gated_kernel(const void* g, const void* u, const float* scales, uint2* out,
                           unsigned packs, unsigned packs_a_scale) {
  FUSEGATE_TAKE_LONGER;
  wait_for_kernel_before();
  const unsigned i = blockIdx.x * kQuantizedThreads + threadIdx.x;
  if (i >= packs) return;
  const uint4 of_g = load_pack(g, i), of_u = load_pack(u, i);
  const float factor = 1 / scales[i / packs_a_scale];
  let_next_kernel_in();
  const auto pair = [&](unsigned a, unsigned b) { return quantized_pair<Functor>(a, b, factor); };
  out[i] = {pair(of_g.x, of_u.x) | pair(of_g.y, of_u.y) << 16,
            pair(of_g.z, of_u.z) | pair(of_g.w, of_u.w) << 16};
}

}  // namespace

void enqueue_quantized_gated(const Activation& activation, const Tensor& g, const Tensor& u,
                             const Tensor& scales, const Tensor& out, cudaStream_t stream) {
  const auto packs = static_cast<unsigned>(out.count() / 8);
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    const auto kernel = quantized_gated_kernel<Functor>;
    static const bool early = can_launch_early(reinterpret_cast<const void*>(kernel));
    launch_kernel(kernel,
                  {.blocks = dim3(ceil_div(packs, kQuantizedThreads)),
                   .threads = kQuantizedThreads,
                   .early = early},
                  stream, g.data, u.data, static_cast<const float*>(scales.data),
                  static_cast<uint2*>(out.data), packs,
                  packs / static_cast<unsigned>(scales.count()));
  });
}

}  // namespace fusegate::kernels
