// All activations. To add one, write a functor in a file of its own, with of() and slope() in
// fp32 for the device, reference() and reference_slope() in double, and name it in these lists and
// in CMakeLists.txt.
#pragma once

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/activations/gelu.h"
#include "kernels/activations/gelu_tanh.h"
#include "kernels/activations/relu.h"
#include "kernels/activations/silu.h"
#include "kernels/contract/activation.h"

namespace fusegate::kernels {

template <typename... Functors>
struct ActivationList {};

using Activations = ActivationList<GeluTanh, Silu, Gelu, Relu>;
// Those built into our matrix products too, which are slow to compile.
using GemmActivations = ActivationList<GeluTanh, Silu>;

template <typename Functor>
inline constexpr Activation kActivationOf{
    Functor::kName, Functor::kUnit, Functor::kStage, Functor::kFlops, &Functor::reference,
    Functor::kSlopeFlops, &Functor::reference_slope, requires {Functor::kSlopeJumps;
}  // namespace fusegate::kernels
}
;

template <typename... Functors>
constexpr std::array<Activation, sizeof...(Functors)> records_of(ActivationList<Functors...>) {
  return {kActivationOf<Functors>...};
}
inline constexpr std::array kActivations = records_of(Activations{});
inline constexpr std::array kGemmActivations = records_of(GemmActivations{});

// Calls f.template operator()<Functor>() with the activation's functor. Throws
// std::invalid_argument where the list does not have it.
template <typename... Functors, typename F>
void dispatch_activation(ActivationList<Functors...>, const Activation& activation, F&& f) {
  const auto call_if = [&]<typename Functor>() {
    const bool is_it = activation.name == Functor::kName;
    if (is_it) f.template operator()<Functor>();
    return is_it;
  };
  if ((call_if.template operator()<Functors>() || ...)) return;
  throw std::invalid_argument("this kernel is not built for activation " +
                              std::string(activation.name));
}

}  // namespace fusegate::kernels
