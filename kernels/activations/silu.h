// silu, or swish: x / (1 + e^-x). P. Ramachandran, B. Zoph, Q. V. Le, "Searching for Activation
// Functions", arXiv:1710.05941. As a gate it makes SwiGLU: N. Shazeer, "GLU Variants Improve
// Transformer", arXiv:2002.05202.
#pragma once

#include "kernels/activations/arithmetic.h"

namespace fusegate::kernels {

struct Silu {
  static constexpr const char* kName = "silu";
  static constexpr const char* kUnit = "swiglu";
  static constexpr const char* kStage = "silu";
  static constexpr double kFlops = 4;  // minus (1), exp (1), plus one (1), division (1)
  // With s = 1 / (1 + e^-x), s (1 + x (1 - s)).
  static constexpr double kSlopeFlops = 4;

  static FUSEGATE_HOST_DEVICE double reference(double x) { return x / (1 + exp(-x)); }
  static FUSEGATE_HOST_DEVICE double reference_slope(double x) {
    const double s = 1 / (1 + exp(-x));
    return s * (1 + x * (1 - s));
  }

  // The power's overflow to infinity gives the right limit, zero.
  static FUSEGATE_HOST_DEVICE float of(float x) { return multiply(x, logistic(x)); }
  static FUSEGATE_HOST_DEVICE float slope(float x) {
    const float s = logistic(x);
    return multiply(s, multiply_add(add(1.0f, -s), x, 1.0f));
  }

 private:
  static FUSEGATE_HOST_DEVICE float logistic(float x) {
    constexpr float kMinusLog2E = -1.44269504f;
    return fast_reciprocal(add(fast_exp2(multiply(x, kMinusLog2E)), 1.0f));
  }
};

}  // namespace fusegate::kernels
