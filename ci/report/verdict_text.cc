#include "ci/report/verdict_text.h"

#include <fmt/format.h>

#include <cmath>

namespace fusegate::ci {
namespace {

using baselines::Obstacle;
using baselines::Rule;
using baselines::Verdict;
using baselines::VerdictKind;

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * std::abs(share)); }
std::string signed_percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

// What does not matter, "0.30 %"; both ends of it where they are of different sizes, "[-33.33,
// +50.00] %", lest an interval seem to lie within what it reaches past.
std::string band(const Rule& rule) {
  const std::string slower = percent(rule.min_effect), faster = percent(least_gain(rule));
  if (slower == faster) return slower;
  return fmt::format("[{:+.2f}, {:+.2f}] %", 100 * least_gain(rule), 100 * rule.min_effect);
}

std::string change(const Verdict& verdict, const Rule& rule) {
  const bool slower = verdict.kind == VerdictKind::kRegression;
  std::string text = fmt::format("{} by {}", slower ? "slower" : "faster", percent(verdict.effect));
  if (std::isnan(verdict.effect_cycles)) {
    text += " in time; cycles were not available to confirm it";
  } else {
    text += fmt::format(" at equal clock ({} in time, {} in cycles)",
                        signed_percent(verdict.effect_time), signed_percent(verdict.effect_cycles));
  }
  text += fmt::format("; tested against {}", percent(rule.min_effect));
  if (slower && verdict.confirming_invocations > 0) {
    text += fmt::format("; {} fresh processes confirm it", verdict.confirming_invocations);
  }
  return text;
}

// What the times of equal work differ by is no code's doing.
std::string identical(const Verdict& verdict) {
  std::string text = "the same machine code, launches and arguments on both sides";
  if (!std::isfinite(verdict.effect)) return text;
  return text + fmt::format("; the machine did {}", signed_percent(verdict.effect));
}

std::string machine_moved(const Verdict& verdict) {
  std::string text = fmt::format("its code is the same on both sides, so the machine moved: {}",
                                 signed_percent(verdict.effect_time));
  if (std::isnan(verdict.effect_cycles)) return text;
  return text + fmt::format(" in time and {} in cycles", signed_percent(verdict.effect_cycles));
}

std::string too_few_text(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::kNoSpread:
      return "one invocation a side says nothing about the spread between invocations; take at "
             "least two";
    case Obstacle::kBorrowedNoise:
      return "one invocation a side may be the odd one out, and the noise shown is that of the "
             "suite's other benchmarks; take at least two";
    default:
      return fmt::format("one invocation of the {} may be the odd one out; take at least two",
                         obstacle == Obstacle::kSingleCandidate ? "candidate" : "baseline");
  }
}

std::string obstacle_text(const Verdict& verdict, const Rule& rule) {
  const std::string effect = signed_percent(verdict.effect);
  const std::string time = signed_percent(verdict.effect_time);
  switch (verdict.obstacle) {
    case Obstacle::kMachineMoved:
      return machine_moved(verdict);
    case Obstacle::kNotConfirmed:
      return fmt::format(
          "all invocations together say slower ({}), but the {} fresh ones alone do not confirm it",
          effect, verdict.confirming_invocations);
    case Obstacle::kClockSaysSlower:
    case Obstacle::kClockSaysFaster:
      return fmt::format("time says {} ({}), time at equal clock does not ({}): the clock moved",
                         verdict.obstacle == Obstacle::kClockSaysSlower ? "slower" : "faster", time,
                         effect);
    case Obstacle::kDisagreement:
      return fmt::format("{} at equal clock, but time ({}) and cycles ({}) do not both show it",
                         effect, time, signed_percent(verdict.effect_cycles));
    case Obstacle::kCardsDiffer:
      return fmt::format("the interval, widened by what two cards differ by, reaches past {}",
                         band(rule));
    case Obstacle::kTooWide:
      return fmt::format("the interval reaches past {}, but not far enough to call it", band(rule));
    default:
      return too_few_text(verdict.obstacle);
  }
}

std::string text_without_choices(const Verdict& verdict, const Rule& rule) {
  switch (verdict.kind) {
    case VerdictKind::kUnchanged:
      return fmt::format("the interval {} to {} lies within {}",
                         signed_percent(verdict.interval.low),
                         signed_percent(verdict.interval.high), band(rule));
    case VerdictKind::kIdentical:
      return identical(verdict);
    case VerdictKind::kInconclusive:
      return obstacle_text(verdict, rule);
    case VerdictKind::kNew:
      return "the baseline has no such benchmark";
    case VerdictKind::kMissing:
      return "the candidate has no such benchmark";
    case VerdictKind::kInvalid:
      return fmt::format("failed in the {}: {}",
                         verdict.failed_in_candidate ? "candidate" : "baseline",
                         verdict.failure.empty() ? "no invocation measured it" : verdict.failure);
    case VerdictKind::kRegression:
    case VerdictKind::kImprovement:
      return change(verdict, rule);
  }
  return "";
}

}  // namespace

std::string reason_text(const Verdict& verdict, const Rule& rule) {
  std::string text = text_without_choices(verdict, rule);
  for (const baselines::ChoiceChange& choice : verdict.choice_changes) {
    text += fmt::format("; {} was {} and is {}", choice.name, choice.before, choice.after);
  }
  return text;
}

}  // namespace fusegate::ci
