// fp32 arithmetic for activations, each operation named, so that no compiler contracts a product
// and a sum. g++, nvcc and, at run time, NVRTC compile this folder's functors; NVRTC gets only this
// project's headers. On the host, for tests without a GPU, the C library's functions are used.
#pragma once

#ifndef __CUDACC_RTC__
#include <cmath>
#endif

#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

#ifdef __CUDA_ARCH__

__device__ inline float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float add(float a, float b) { return __fadd_rn(a, b); }
__device__ inline float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }

// Both flush below 2^-126 to zero; exp2 errs by up to 2 ulp, the reciprocal by 1 (PTX ISA, "ex2",
// "rcp"): far less than rounding to 16 bits.
__device__ inline float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ inline float fast_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

#else

FUSEGATE_HOST_DEVICE inline float multiply(float a, float b) { return a * b; }
FUSEGATE_HOST_DEVICE inline float add(float a, float b) { return a + b; }
FUSEGATE_HOST_DEVICE inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
FUSEGATE_HOST_DEVICE inline float fast_exp2(float x) { return exp2f(x); }
FUSEGATE_HOST_DEVICE inline float fast_reciprocal(float x) { return 1 / x; }

#endif

}  // namespace fusegate::kernels
