#include "baselines/comparing/verdict.h"

#include <array>

namespace fusegate::baselines {

std::string_view verdict_name(VerdictKind kind) {
  constexpr std::array<std::string_view, 8> kNames{"regression", "improvement",  "unchanged",
                                                   "identical",  "inconclusive", "new",
                                                   "missing",    "invalid"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view quantity_name(Quantity quantity) {
  constexpr std::array<std::string_view, 3> kNames{"time", "equal_clock", "cycles"};
  return kNames.at(static_cast<std::size_t>(quantity));
}

VerdictKind first_sight(const Verdict& verdict) {
  const bool are_few = verdict.reason.obstacle == Obstacle::kFewProcesses ||
                       verdict.reason.obstacle == Obstacle::kFewInBaseline;
  if (!are_few) return verdict.kind;
  return verdict.estimates.effect > 0 ? VerdictKind::kRegression : VerdictKind::kImprovement;
}

}  // namespace fusegate::baselines
