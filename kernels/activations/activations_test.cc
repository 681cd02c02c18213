#include "kernels/activations/activations.h"

#include <gtest/gtest.h>

#include <set>

namespace fusegate::kernels {
namespace {

// The functors' fp32 formulas, with the host's functions, against their references.
template <typename... Functors>
void expect_device_forms_agree(ActivationList<Functors...>) {
  const auto check = []<typename Functor>() {
    for (float x = -12; x <= 12; x += 0.001f) {
      const double expected = Functor::reference(x);
      // A tenth of half an ulp of fp16, the finer of both 16-bit formats.
      const double allowed = 0x1p-12 * 0.1 * (std::abs(expected) + 1e-2);
      ASSERT_NEAR(Functor::of(x), expected, allowed) << Functor::kName << " at " << x;
      const double slope = Functor::reference_slope(x);
      ASSERT_NEAR(Functor::slope(x), slope, 0x1p-12 * 0.1 * (std::abs(slope) + 1e-2))
          << Functor::kName << " at " << x;
    }
    EXPECT_EQ(Functor::of(0.0f), 0.0f) << Functor::kName;
    EXPECT_NEAR(Functor::of(-1e4f), 0, 1e-30) << Functor::kName;
    EXPECT_EQ(Functor::of(1e4f), 1e4f) << Functor::kName;
    EXPECT_TRUE(std::isnan(Functor::of(std::nanf("")))) << Functor::kName;
    EXPECT_NEAR(Functor::slope(-1e4f), 0, 1e-30) << Functor::kName;
    EXPECT_EQ(Functor::slope(1e4f), 1) << Functor::kName;
  };
  (check.template operator()<Functors>(), ...);
}

TEST(Activations, DeviceFormsAgreeWithTheirReferences) { expect_device_forms_agree(Activations{}); }

// Central differences, whose error is h^2 / 6 of the third derivative and the roundings over h.
TEST(Activations, SlopesAreDerivatives) {
  constexpr double kStep = 1e-5;
  for (const Activation& activation : kActivations) {
    for (double x = -12.0005; x <= 12; x += 0.001) {
      const double difference =
          (activation.reference(x + kStep) - activation.reference(x - kStep)) / (2 * kStep);
      ASSERT_NEAR(activation.slope(x), difference, 1e-9) << activation.name << " at " << x;
    }
    EXPECT_GT(activation.slope_flops, 0) << activation.name;
  }
  EXPECT_EQ(kActivationOf<Relu>.slope(0), 0);
}

// Python's math.exp, in double: x / (1 + math.exp(-x)).
TEST(Silu, AgreesWithTheFormulaComputedElsewhere) {
  EXPECT_NEAR(Silu::reference(1.0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(Silu::reference(-2.0), -0.2384058440442351, 1e-15);
}

// Python's math.erf, in double: 0.5 * x * (1 + math.erf(x / math.sqrt(2))).
TEST(Gelu, AgreesWithTheFormulaComputedElsewhere) {
  EXPECT_NEAR(Gelu::reference(1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(Gelu::reference(-2.0), -0.04550026389635842, 1e-15);
}

// Python's math.tanh, in double: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))).
TEST(GeluTanh, AgreesWithTheFormulaComputedElsewhere) {
  EXPECT_NEAR(GeluTanh::reference(0.0), 0.0, 1e-15);
  EXPECT_NEAR(GeluTanh::reference(1.0), 0.8411919906082768, 1e-13);
  EXPECT_NEAR(GeluTanh::reference(-1.0), -0.15880800939172324, 1e-13);
  EXPECT_NEAR(GeluTanh::reference(10.0), 10.0, 1e-12);
  EXPECT_NEAR(GeluTanh::reference(-10.0), 0.0, 1e-12);
}

TEST(GeluTanh, StaysWithinTheApproximationsErrorOfTheExactGelu) {
  for (double x = -6; x <= 6; x += 0.01) {
    EXPECT_NEAR(GeluTanh::reference(x), Gelu::reference(x), 5e-4) << "at " << x;
  }
}

TEST(Relu, CutsOffWhatIsNegative) {
  EXPECT_EQ(Relu::reference(1.5), 1.5);
  EXPECT_EQ(Relu::reference(-1.5), 0);
}

TEST(Activations, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, units;
  for (const Activation& activation : kActivations) {
    EXPECT_TRUE(names.insert(activation.name).second) << activation.name;
    EXPECT_TRUE(units.insert(activation.unit).second) << activation.unit;
    EXPECT_GT(activation.flops, 0) << activation.name;
  }
}

TEST(Activations, AreDispatchedByName) {
  for (const Activation& activation : kActivations) {
    std::string_view seen;
    dispatch_activation(Activations{}, activation, [&]<typename F>() { seen = F::kName; });
    EXPECT_EQ(seen, activation.name);
  }
  const Activation unknown{.name = "cubic"};
  EXPECT_THROW(dispatch_activation(Activations{}, unknown, []<typename>() {}),
               std::invalid_argument);
}

TEST(Activations, NameTheirStagesAndOperations) {
  const Activation& gelu = kActivationOf<GeluTanh>;
  EXPECT_EQ(gelu.mlp(), "geglu_mlp");
  EXPECT_EQ(gelu.gated_stage(), "gelu_mul");
  EXPECT_EQ(gelu.backward(), "geglu_backward");
  EXPECT_EQ(gelu.mlp_training(), "geglu_mlp_training");
  EXPECT_EQ(gelu.gated_backward_stage(), "gelu_mul_backward");
  EXPECT_EQ(gelu.gate_up_stage(), "gate_up_geglu");
}

}  // namespace
}  // namespace fusegate::kernels
