// Loads and ordering of the kernels that stream weights past few rows of x.
#pragma once

#include <cuda_device_runtime_api.h>

#include <cstdint>

namespace fusegate::kernels::few_rows {

// 16 bytes by one instruction; zeros without a read where not inside.
#define FUSEGATE_LOAD_16(instruction, to, from, inside)                 \
  asm volatile(                                                         \
      "{.reg .pred p; setp.ne.b32 p, %5, 0;\n\t"                        \
      "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n\t" \
      "@p " instruction " {%0, %1, %2, %3}, [%4];}"                     \
      : "=&r"((to).x), "=&r"((to).y), "=&r"((to).z), "=&r"((to).w)      \
      : "l"(from), "r"(static_cast<int>(inside)))

// Past L1, since weights are read once. Not .nc, though they are constant: ptxas 13.0 moves such
// loads behind griddepcontrol.wait, which they must precede.
__device__ inline uint4 load_weights_16(const void* from, bool inside) {
  uint4 to;
  FUSEGATE_LOAD_16("ld.global.L1::no_allocate.L2::128B.v4.b32", to, from, inside);
  return to;
}

// From L2: the kernel ahead may have written x while this one ran, and L1 may hold older values.
__device__ inline uint4 load_x_16(const void* from, bool inside) {
  uint4 to;
  FUSEGATE_LOAD_16("ld.global.cg.v4.b32", to, from, inside);
  return to;
}
#undef FUSEGATE_LOAD_16

// Waits for the kernel ahead, then lets the next one start and load its weights. Not earlier, since
// waiting grids would pile up on the SMs. On an H200 (driver 580.159.04), microseconds of a whole
// MLP, rows x dim x hidden, with the next kernel let in before the wait, after it, or after the
// loop over the weights:
//
//   1 x 768 x 3072      4.23    4.07    4.83
//   8 x 768 x 3072      5.22    4.69    5.38
//   1 x 4096 x 14336   77.91   78.01   79.57
__device__ inline void wait_and_let_next_kernel_in() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace fusegate::kernels::few_rows
