// The kernel of geglu/fused_specialized, which NVRTC compiles at run time for one number of
// elements (specialized_gelu_mul.cc defines the macros).
#include "kernels/cuda/pointwise_body.cuh"

extern "C" __global__ void __launch_bounds__(FUSEGATE_THREADS)
    gelu_mul(void* out, const void* g, const void* u) {
  using namespace fusegate;
  using Grid = Block<FUSEGATE_THREADS, FUSEGATE_PACKS_A_THREAD>;
  if constexpr (FUSEGATE_EXACT) {
    wait_for_kernel_before();
    const unsigned first = blockIdx.x * (Grid::kThreads * Grid::kPacks) + threadIdx.x;
    write_packs<FUSEGATE_FORMAT, GeluMul, Grid>(NotSlowed{}, out, first, load_packs<Grid>(g, first),
                                                load_packs<Grid>(u, first));
  } else {
    pointwise<FUSEGATE_FORMAT, GeluMul, Grid>(NotSlowed{}, out, FUSEGATE_PACKS, FUSEGATE_TAIL, g,
                                              u);
  }
}
