// The kernel of geglu/fused_specialized, which NVRTC compiles at run time for one number of
// elements (specialized_gelu_mul.cc defines the macros).
#include "kernels/cuda/pointwise/pointwise_body.cuh"

extern "C" __global__ void __launch_bounds__(FUSEGATE_THREADS)
    gelu_mul(void* out, const void* g, const void* u) {
  using namespace fusegate::kernels;
  if constexpr (FUSEGATE_EXACT) {
    wait_for_kernel_before();
    const unsigned i = blockIdx.x * FUSEGATE_THREADS + threadIdx.x;
    write_pack<FUSEGATE_FORMAT, GeluMul>(NotSlowed{}, out, i, load_pack(g, i), load_pack(u, i));
  } else {
    pointwise<FUSEGATE_FORMAT, GeluMul, FUSEGATE_THREADS>(NotSlowed{}, out, FUSEGATE_PACKS,
                                                          FUSEGATE_TAIL, g, u);
  }
}
