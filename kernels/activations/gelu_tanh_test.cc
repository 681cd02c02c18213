#include "kernels/activations/gelu_tanh.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fusegate::kernels {
namespace {

TEST(GeluTanh, AgreesWithTheFormulaComputedElsewhere) {
  // Python's math.tanh, in double: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))).
  EXPECT_NEAR(GeluTanh::reference(0.0), 0.0, 1e-15);
  EXPECT_NEAR(GeluTanh::reference(1.0), 0.8411919906082768, 1e-13);
  EXPECT_NEAR(GeluTanh::reference(-1.0), -0.15880800939172324, 1e-13);
  EXPECT_NEAR(GeluTanh::reference(10.0), 10.0, 1e-12);
  EXPECT_NEAR(GeluTanh::reference(-10.0), 0.0, 1e-12);
}

TEST(GeluTanh, StaysWithinTheApproximationsErrorOfTheExactGelu) {
  for (double x = -6; x <= 6; x += 0.01) {
    const double exact = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    EXPECT_NEAR(GeluTanh::reference(x), exact, 5e-4) << "at " << x;
  }
}

}  // namespace
}  // namespace fusegate::kernels
