#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

std::string_view verdict_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kRegression:
      return "regression";
    case VerdictKind::kImprovement:
      return "improvement";
    case VerdictKind::kUnchanged:
      return "unchanged";
    case VerdictKind::kIdentical:
      return "identical";
    case VerdictKind::kInconclusive:
      return "inconclusive";
    case VerdictKind::kNew:
      return "new";
    case VerdictKind::kMissing:
      return "missing";
    case VerdictKind::kInvalid:
      return "invalid";
  }
  return "";
}

VerdictKind first_sight(const Verdict& verdict) {
  const bool are_few = verdict.reason.obstacle == Obstacle::kFewProcesses ||
                       verdict.reason.obstacle == Obstacle::kFewInBaseline;
  if (!are_few) return verdict.kind;
  return verdict.estimates.effect > 0 ? VerdictKind::kRegression : VerdictKind::kImprovement;
}

std::string_view quantity_name(Quantity quantity) {
  switch (quantity) {
    case Quantity::kTime:
      return "time";
    case Quantity::kEqualClock:
      return "equal_clock";
    case Quantity::kCycles:
      return "cycles";
  }
  return "";
}

}  // namespace fusegate::baselines
