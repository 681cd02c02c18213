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
  // Half of one plus erf (1), and x e^(-x^2 / 2) / sqrt(2 pi) (5), added (1).
  static constexpr double kSlopeFlops = 7;

  static constexpr double kSqrtHalf = 0.70710678118654752440;
  static constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)

  static FUSEGATE_HOST_DEVICE double reference(double x) {
    return 0.5 * x * (1 + erf(x * kSqrtHalf));
  }
  static FUSEGATE_HOST_DEVICE double reference_slope(double x) {
    return 0.5 * (1 + erf(x * kSqrtHalf)) + x * kDensityAtZero * exp(-0.5 * x * x);
  }

  // Below x = -5.5 erff is -1; the error is under 1e-6.
  static FUSEGATE_HOST_DEVICE float of(float x) {
    const float one_and_erf = add(erff(multiply(x, static_cast<float>(kSqrtHalf))), 1.0f);
    return multiply(multiply(x, 0.5f), one_and_erf);
  }
  static FUSEGATE_HOST_DEVICE float slope(float x) {
    constexpr float kMinusHalfLog2E = -0.72134752f;
    const float one_and_erf = add(erff(multiply(x, static_cast<float>(kSqrtHalf))), 1.0f);
    const float power = fast_exp2(multiply(multiply(x, x), kMinusHalfLog2E));
    return multiply_add(multiply(x, static_cast<float>(kDensityAtZero)), power,
                        multiply(one_and_erf, 0.5f));
  }
};

}  // namespace fusegate::kernels
