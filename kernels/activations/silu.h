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

  static FUSEGATE_HOST_DEVICE double reference(double x) { return x / (1 + exp(-x)); }

  // The power's overflow to infinity gives the right limit, zero.
  static FUSEGATE_HOST_DEVICE float of(float x) {
    constexpr float kMinusLog2E = -1.44269504f;
    return multiply(x, fast_reciprocal(add(fast_exp2(multiply(x, kMinusLog2E)), 1.0f)));
  }
};

}  // namespace fusegate::kernels
