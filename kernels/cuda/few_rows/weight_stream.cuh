// The loads of the kernels that stream weights past few rows of x, and how they follow each other.
#pragma once

#include <cuda_device_runtime_api.h>

#include <cstdint>

namespace fusegate::kernels::few_rows {

// 16 bytes by one instruction, or zeros where they are outside, whose address is not read.
#define FUSEGATE_LOAD_16(instruction, to, from, inside)                 \
  asm volatile(                                                         \
      "{.reg .pred p; setp.ne.b32 p, %5, 0;\n\t"                        \
      "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n\t" \
      "@p " instruction " {%0, %1, %2, %3}, [%4];}"                     \
      : "=&r"((to).x), "=&r"((to).y), "=&r"((to).z), "=&r"((to).w)      \
      : "l"(from), "r"(static_cast<int>(inside)))

// Weights: past L1, where nobody would find them again. Not .nc, though nobody writes them: ptxas
// 13.0 moves those loads behind griddepcontrol.wait, which they are to precede.
__device__ inline uint4 load_weights_16(const void* from, bool inside) {
  uint4 to;
  FUSEGATE_LOAD_16("ld.global.L1::no_allocate.L2::128B.v4.b32", to, from, inside);
  return to;
}

// x is what the kernel before may have written while this one ran, when L1 may have kept what was
// there before. From L2, then.
__device__ inline uint4 load_x_16(const void* from, bool inside) {
  uint4 to;
  FUSEGATE_LOAD_16("ld.global.cg.v4.b32", to, from, inside);
  return to;
}
#undef FUSEGATE_LOAD_16

// From here on x is what the kernel before wrote, and nobody reads out any more. Then lets the
// kernel after this one be placed and load its weights: no sooner, since a kernel that waits would
// have the next one placed, that one the next, and grids pile up on the SMs. On an H200 (driver
// 580.159.04), microseconds of a whole MLP, rows x dim x hidden, let in before the wait, after it,
// or after the loop over the weights:
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
