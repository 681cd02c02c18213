#include "baselines/comparing/drift.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kLevel = 0.01;

// Whether the control differs for certain; then the shift is at least its effect.
bool add_control(const Contrast& contrast, double level, Shift& shift) {
  Contrast magnitude = contrast;
  magnitude.effect = std::abs(contrast.effect);
  if (p_above(magnitude, 0) > level) return false;
  double& side = contrast.effect > 0 ? shift.slower : shift.faster;
  side = std::max(side, magnitude.effect);
  return true;
}

}  // namespace

bool is_control(std::string_view benchmark) { return benchmark.starts_with("control"); }

Drift drift_of(std::vector<Comparison>& suite) {
  const auto controls = std::ranges::count_if(suite, &Comparison::is_control);
  constexpr int kQuantities = 3, kDirections = 2;
  const double level = kLevel / static_cast<double>(std::max<std::ptrdiff_t>(1, controls) *
                                                    kQuantities * kDirections);
  Drift drift;
  for (Comparison& comparison : suite) {
    if (!comparison.is_control || comparison.has_single_invocation) continue;
    comparison.has_moved = add_control(comparison.time, level, drift.time);
    if (!comparison.cycles) continue;
    comparison.has_moved |= add_control(*comparison.cycles, level, drift.cycles);
    comparison.has_moved |= add_control(*comparison.equal_clock, level, drift.equal_clock);
  }
  return drift;
}

}  // namespace fusegate::baselines
