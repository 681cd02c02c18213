// What the kernels that stream weights past few rows of x have in common: their loads, and what
// becomes of a column's sums.
#pragma once

#include <cstdint>

#include "kernels/cuda/gelu_tanh.cuh"

namespace fusegate::few_rows {

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

// A column of the result, summed.
struct Geglu {
  static constexpr int kWeights = 2;
  __device__ static float of(float gate, float up) { return gelu_tanh(gate) * up; }
};
struct Linear {
  static constexpr int kWeights = 1;
};

}  // namespace fusegate::few_rows
