// gelu_tanh in fp32, for kernels that apply it to accumulators in registers.
#pragma once

namespace fusegate {

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

// 0.5 x (1 + tanh(y)) = x / (1 + exp(-2 y)) with y = sqrt(2 / pi) (x + 0.044715 x^3), and exp as a
// power of 2 whose exponent takes log2(e) into the constants. No branch: where the power overflows
// to infinity the quotient is the right limit, zero.
__device__ inline float gelu_tanh(float x) {
  constexpr float kLinear = -2.3022081985f;  // -2 sqrt(2 / pi) log2(e)
  constexpr float kCubic = 0.044715f * kLinear;
  return x * fast_reciprocal(1.0f + fast_exp2(x * (kLinear + kCubic * (x * x))));
}

}  // namespace fusegate
