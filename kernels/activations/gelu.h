// gelu: 0.5 x (1 + erf(x / sqrt(2))), which is PyTorch's default. D. Hendrycks, K. Gimpel,
// "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415, section 2.
#pragma once

#include "kernels/activations/arithmetic.h"

namespace fusegate::kernels {

struct Gelu {
  static constexpr const char* kName = "gelu";
  static constexpr const char* kUnit = "geglu_erf";
  static constexpr const char* kStage = "gelu";
  // x / sqrt(2) (1), erf (1), plus one (1), half of x (1), and their product (1).
  static constexpr double kFlops = 5;

  static constexpr double kSqrtHalf = 0.70710678118654752440;

  static FUSEGATE_HOST_DEVICE double reference(double x) {
    return 0.5 * x * (1 + erf(x * kSqrtHalf));
  }

  // Below x = -5.5 erff is -1; the error is under 1e-6.
  static FUSEGATE_HOST_DEVICE float of(float x) {
    const float one_and_erf = add(erff(multiply(x, static_cast<float>(kSqrtHalf))), 1.0f);
    return multiply(multiply(x, 0.5f), one_and_erf);
  }
};

}  // namespace fusegate::kernels
