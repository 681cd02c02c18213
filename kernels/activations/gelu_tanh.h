// gelu(approximate="tanh"): 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). D. Hendrycks, K.
// Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415, section 2.
#pragma once

#include "kernels/activations/arithmetic.h"

namespace fusegate::kernels {

struct GeluTanh {
  static constexpr const char* kName = "gelu_tanh";
  static constexpr const char* kUnit = "geglu";
  static constexpr const char* kStage = "gelu";
  // x^3 (2), its factor and sum (2), sqrt(2/pi) (1), tanh (1), plus one (1), half of x (1), and
  // their product (1).
  static constexpr double kFlops = 9;
  // Half of one plus tanh (1); 1 - tanh^2 (2); sqrt(2/pi) (1 + 3 * 0.044715 x^2) (3); their product
  // with half of x (2), and the sum (1).
  static constexpr double kSlopeFlops = 9;

  static constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

  static FUSEGATE_HOST_DEVICE double reference(double x) {
    return 0.5 * x * (1 + tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
  }
  static FUSEGATE_HOST_DEVICE double reference_slope(double x) {
    const double t = tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x));
    const double inner = kSqrtTwoOverPi * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
  }

  // Through the logistic function: 0.5 (1 + tanh(y)) = 1 / (1 + 2^(-2 y log2(e))), with
  // y = sqrt(2/pi) (x + 0.044715 x^3). Two special functions and no branch; the power's overflow to
  // infinity gives the right limit, zero. tanh.approx would be one special function, but is off by
  // 5e-4: where x = -3, an eighth of the result.
  static FUSEGATE_HOST_DEVICE float of(float x) { return multiply(x, logistic(x)); }

  // With s that logistic function: s + x s (1 - s) 2 dy/dx.
  static FUSEGATE_HOST_DEVICE float slope(float x) {
    constexpr float kLinear = static_cast<float>(2 * kSqrtTwoOverPi);
    constexpr float kSquare = static_cast<float>(6 * kSqrtTwoOverPi * 0.044715);
    const float s = logistic(x), rest = add(1.0f, -s);
    const float inner = multiply(x, multiply_add(multiply(x, x), kSquare, kLinear));
    return multiply(s, multiply_add(rest, inner, 1.0f));
  }

 private:
  static FUSEGATE_HOST_DEVICE float logistic(float x) {
    constexpr double kLinear = -2 * kSqrtTwoOverPi * 1.4426950408889634;
    constexpr float kCubic = static_cast<float>(kLinear * 0.044715);
    const float factor = multiply_add(multiply(x, x), kCubic, static_cast<float>(kLinear));
    return fast_reciprocal(add(fast_exp2(multiply(x, factor)), 1.0f));
  }
};

}  // namespace fusegate::kernels
