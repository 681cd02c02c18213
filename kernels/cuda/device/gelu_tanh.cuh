// gelu_tanh in fp32. Both nvcc and, at run time, NVRTC compile this file; NVRTC finds no headers,
// so it includes none.
#pragma once

namespace fusegate::kernels {

// Both flush what is below 2^-126 to zero; exp2 is good to 2 ulp, the reciprocal to 1 (PTX ISA,
// "ex2", "rcp"): far below what rounding to 16 bits costs.
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

// Through the logistic function: 0.5 (1 + tanh(y)) = 1 / (1 + 2^(-2 y log2(e))), with
// y = sqrt(2/pi) (x + 0.044715 x^3). Two special functions and no branch; the power's overflow to
// infinity gives the right limit, zero. tanh.approx would be one special function, but is off by
// 5e-4: where x = -3, an eighth of the result. Every operation is named, lest one compiler contract
// what another does not.
__device__ inline float gelu_tanh(float x) {
  constexpr double kLinear = -2 * 0.7978845608028654 * 1.4426950408889634;
  constexpr float kCubic = static_cast<float>(kLinear * 0.044715);
  const float factor = __fmaf_rn(__fmul_rn(x, x), kCubic, static_cast<float>(kLinear));
  return __fmul_rn(x, fast_reciprocal(__fadd_rn(fast_exp2(__fmul_rn(x, factor)), 1.0f)));
}

}  // namespace fusegate::kernels
