#include "baselines/comparing/verdict.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fusegate::baselines {
namespace {

std::string_view name_in(const auto& names, auto value) {
  return std::ranges::find_if(names, [value](const auto& one) { return one.first == value; })
      ->second;
}

// Obstacles to a change that the data show by more than matters.
constexpr Obstacle kBeyondWhatMatters[] = {
    Obstacle::kMachineUnknown, Obstacle::kAmongOthers,   Obstacle::kSuiteMoved,
    Obstacle::kFewProcesses,   Obstacle::kFewInBaseline, Obstacle::kNotConfirmed,
    Obstacle::kDisagreement,   Obstacle::kControlsMoved, Obstacle::kNotCertain};

}  // namespace

std::string_view verdict_name(VerdictKind kind) {
  constexpr std::array<std::pair<VerdictKind, std::string_view>, 8> kNames{
      {{VerdictKind::kRegression, "regression"},
       {VerdictKind::kImprovement, "improvement"},
       {VerdictKind::kUnchanged, "unchanged"},
       {VerdictKind::kIdentical, "identical"},
       {VerdictKind::kInconclusive, "inconclusive"},
       {VerdictKind::kNew, "new"},
       {VerdictKind::kMissing, "missing"},
       {VerdictKind::kInvalid, "invalid"}}};
  return name_in(kNames, kind);
}

std::string_view quantity_name(Quantity quantity) {
  constexpr std::array<std::pair<Quantity, std::string_view>, 3> kNames{
      {{Quantity::kTime, "time"},
       {Quantity::kEqualClock, "equal_clock"},
       {Quantity::kCycles, "cycles"}}};
  return name_in(kNames, quantity);
}

VerdictKind first_sight(const Verdict& verdict) {
  const bool are_few = verdict.reason.obstacle == Obstacle::kFewProcesses ||
                       verdict.reason.obstacle == Obstacle::kFewInBaseline;
  if (!are_few) return verdict.kind;
  return verdict.estimates.effect > 0 ? VerdictKind::kRegression : VerdictKind::kImprovement;
}

bool looks_slower(const Verdict& verdict) {
  if (verdict.kind != VerdictKind::kInconclusive || verdict.is_control || verdict.is_accepted()) {
    return false;
  }
  const Obstacle obstacle = verdict.reason.obstacle;
  if (obstacle == Obstacle::kSlowerMode) return true;
  return std::ranges::find(kBeyondWhatMatters, obstacle) != std::end(kBeyondWhatMatters) &&
         verdict.estimates.effect > 0;
}

}  // namespace fusegate::baselines
