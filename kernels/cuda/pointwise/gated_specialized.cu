// The kernel of a gated unit's fused_specialized, which NVRTC compiles at run time for one number
// of elements (specialized_gated.cc defines the macros and puts the includes before it).
extern "C" __global__ void __launch_bounds__(FUSEGATE_THREADS)
    FUSEGATE_KERNEL(void* out, const void* g, const void* u) {
  using namespace fusegate::kernels;
  using Op = Gated<FUSEGATE_FUNCTOR>;
  if constexpr (FUSEGATE_EXACT) {
    wait_for_kernel_before();
    const unsigned i = blockIdx.x * FUSEGATE_THREADS + threadIdx.x;
    write_pack<FUSEGATE_FORMAT, Op>(NotHeldUp{}, out, i, load_pack(g, i), load_pack(u, i));
  } else {
    pointwise<FUSEGATE_FORMAT, Op, FUSEGATE_THREADS>(NotHeldUp{}, out, FUSEGATE_PACKS,
                                                     FUSEGATE_TAIL, g, u);
  }
}
