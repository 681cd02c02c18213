// relu: x where it is positive, else zero; NaN stays NaN. Its slope at zero is
// zero, as in PyTorch. As a gate it makes ReGLU: N. Shazeer,
// "GLU Variants Improve Transformer", arXiv:2002.05202.
#pragma once

#include "kernels/activations/arithmetic.h"

namespace fusegate::kernels {

struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr const char* kUnit = "reglu";
  static constexpr const char* kStage = "relu";
  static constexpr double kFlops = 1;
  static constexpr double kSlopeFlops = 1;
  static constexpr bool kSlopeJumps = true;

  static FUSEGATE_HOST_DEVICE double reference(double x) { return x < 0 ? 0 : x; }
  static FUSEGATE_HOST_DEVICE double reference_slope(double x) { return x <= 0 ? 0 : 1; }
  static FUSEGATE_HOST_DEVICE float of(float x) { return x < 0 ? 0 : x; }
  static FUSEGATE_HOST_DEVICE float slope(float x) { return x <= 0 ? 0 : 1; }
};

}  // namespace fusegate::kernels
