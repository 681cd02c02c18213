// gelu_tanh in fp32, for kernels that apply it to accumulators in registers.
#pragma once

namespace fusegate {

// 0.5 x (1 + tanh(y)) = x / (1 + exp(-2 y)): one exponential and one fast division (2 ulp, far
// below what rounding to 16 bits costs), no branch and no call. Where exp overflows to infinity the
// quotient is the right limit, zero; __fdividef makes it zero from 2^126 on already.
__device__ inline float gelu_tanh(float x) {
  constexpr float kTwoSqrtTwoOverPi = 1.5957691216f;
  const float twice_y = kTwoSqrtTwoOverPi * (x + 0.044715f * x * x * x);
  return __fdividef(x, 1.0f + __expf(-twice_y));
}

}  // namespace fusegate
