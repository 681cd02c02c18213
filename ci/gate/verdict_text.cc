#include "ci/gate/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::Obstacle;
using baselines::Quantity;
using baselines::Rule;
using baselines::Verdict;
using baselines::VerdictKind;

// What does not matter, "0.30 %"; both ends of it where they are of different sizes, "[-33.33,
// +50.00] %", lest an interval seem to lie within what it reaches past.
std::string band(const Rule& rule) {
  const std::string slower = format_magnitude(rule.min_effect),
                    faster = format_magnitude(least_gain(rule));
  if (slower == faster) return slower;
  return format_interval({least_gain(rule), rule.min_effect});
}

// " in time (+0.05 % at equal clock, +0.04 % in cycles)": first what decides.
std::string quantities(const Verdict& verdict) {
  const std::string time = format_effect(verdict.effect_time);
  const std::string cycles = format_effect(verdict.effect_cycles);
  switch (verdict.decided_by) {
    case Quantity::kTime:
      if (std::isnan(verdict.effect_cycles)) {
        return " in time; cycles were not available to confirm it";
      }
      return fmt::format(" in time ({} at equal clock, {} in cycles)",
                         format_effect(verdict.effect_equal_clock), cycles);
    case Quantity::kEqualClock:
      return fmt::format(" at equal clock ({} in time, {} in cycles)", time, cycles);
    case Quantity::kCycles:
      return fmt::format(" in cycles ({} in time)", time);
  }
  return "";
}

std::string power(const Verdict& verdict) {
  std::string text = "; it draws more power, so that the clock is lower";
  if (!std::isfinite(verdict.baseline_energy_j) || !std::isfinite(verdict.candidate_energy_j)) {
    return text;
  }
  return text + fmt::format(": {} a call, before {}", format_energy_j(verdict.candidate_energy_j),
                            format_energy_j(verdict.baseline_energy_j));
}

// "5 fresh ones"
std::string fresh(const Verdict& verdict, std::string_view what) {
  return format_count(static_cast<std::size_t>(verdict.confirming_invocations),
                      fmt::format("fresh {}", what));
}

// "seen at 4.17 us in 8 processes and at 4.30 us in 2"
std::string modes_text(const baselines::Modes& modes) {
  const auto& lower = modes.lower;
  const auto& upper = modes.upper;
  return fmt::format("seen at {} in {} processes and at {} in {}", format_time_ns(lower.time_ns),
                     lower.baseline + lower.candidate, format_time_ns(upper.time_ns),
                     upper.baseline + upper.candidate);
}

// "slower in 6 of 10 processes, by 10.00 % (4.170 us and 4.300 us); the baseline in 0 of 10"
std::string slower_mode_text(const Verdict& verdict) {
  const auto& lower = verdict.modes->lower;
  const auto& upper = verdict.modes->upper;
  return fmt::format("slower in {} of {} processes, by {} ({} and {}); the baseline in {} of {}",
                     upper.candidate, lower.candidate + upper.candidate,
                     format_magnitude(upper.time_ns / lower.time_ns - 1),
                     format_time_ns(lower.time_ns), format_time_ns(upper.time_ns), upper.baseline,
                     lower.baseline + upper.baseline);
}

std::string change(const Verdict& verdict, const Rule& rule) {
  if (verdict.slower_mode) return slower_mode_text(verdict);
  const bool slower = verdict.kind == VerdictKind::kRegression;
  std::string text =
      fmt::format("{} by {}", slower ? "slower" : "faster", format_magnitude(verdict.effect));
  text += quantities(verdict);
  if (slower && verdict.clock_moved) text += power(verdict);
  text += fmt::format("; tested against {}", format_magnitude(tested_effect(rule)));
  if (verdict.confirming_invocations > 0) {
    text += "; confirmed by " + fresh(verdict, "invocation");
  }
  if (verdict.modes) text += "; " + modes_text(*verdict.modes) + ", compared like with like";
  return text;
}

// What the times of equal work differ by is no code's doing.
std::string identical(const Verdict& verdict) {
  std::string text = "the same machine code, launches and arguments on both sides";
  if (!std::isfinite(verdict.effect)) return text;
  return text + fmt::format("; the machine did {}", format_effect(verdict.effect));
}

std::string machine_moved(const Verdict& verdict) {
  std::string text = fmt::format("its code is the same on both sides, so the machine moved: {}",
                                 format_effect(verdict.effect_time));
  if (std::isnan(verdict.effect_cycles)) return text;
  return text + fmt::format(" in time and {} in cycles", format_effect(verdict.effect_cycles));
}

std::string single_text(std::string_view side) {
  return fmt::format("one invocation of the {} may be the odd one out; take at least two", side);
}

std::string clock_text(std::string_view way, const Verdict& verdict) {
  if (verdict.decided_by == Quantity::kCycles) {
    return fmt::format(
        "time says {} ({}), the cycles that the CPU spent do not ({}): other work ran there, or "
        "the "
        "kernel waits",
        way, format_effect(verdict.effect_time), format_effect(verdict.effect));
  }
  const bool by_cycles =
      cycles_tell_better(verdict.effect_time, verdict.effect, verdict.effect_cycles);
  return fmt::format(
      "time says {} ({}), {} not ({}): the clock or the card differ; "
      "`fusegate replay` measures the baseline's program beside this one",
      way, format_effect(verdict.effect_time), by_cycles ? "cycles do" : "time at equal clock does",
      format_effect(by_cycles ? verdict.effect_cycles : verdict.effect));
}

std::string not_confirmed(const Verdict& verdict) {
  return fmt::format("all invocations together say {} ({}), but that is not confirmed by {} alone",
                     verdict.effect > 0 ? "slower" : "faster", format_effect(verdict.effect),
                     fresh(verdict, "one"));
}

std::string controls_moved(const Verdict& verdict, const Rule& rule) {
  return fmt::format("{}, but not by {} more than controls moved ({})",
                     format_effect(verdict.effect), band(rule),
                     format_magnitude(verdict.controls_moved));
}

std::string obstacle_text(const Verdict& verdict, const Rule& rule) {
  switch (verdict.obstacle) {
    case Obstacle::kNone:
      break;
    case Obstacle::kNoSpread:
      return "one invocation a side says nothing about the spread between invocations; take at "
             "least two";
    case Obstacle::kBorrowedNoise:
      return "one invocation a side may be the odd one out, and the noise shown is that of the "
             "suite's other benchmarks; take at least two";
    case Obstacle::kSingleBaseline:
      return single_text("baseline");
    case Obstacle::kSingleCandidate:
      return single_text("candidate");
    case Obstacle::kMachineMoved:
      return machine_moved(verdict);
    case Obstacle::kTwoModes:
      return "its processes take one of two ways: " + modes_text(*verdict.modes);
    case Obstacle::kSlowerMode:
      return slower_mode_text(verdict) + ", which may be chance; measure more processes";
    case Obstacle::kMachineUnknown:
      return fmt::format(
          "{}, but a machine moves benchmarks by some percent from session to session, and so few "
          "benchmarks do not tell how far it did; measure both versions side by side (`fusegate "
          "duet`), or add benchmarks of code that stays as it is",
          format_effect(verdict.effect));
    case Obstacle::kAmongOthers:
      return fmt::format(
          "{}, but the other side was measured among other benchmarks, which may move it; measure "
          "the same benchmarks as the baseline did, or both programs side by side (`fusegate "
          "replay`)",
          format_effect(verdict.effect));
    case Obstacle::kSuiteMoved:
      return fmt::format(
          "{}, but most benchmarks of its kind moved ({} in the median), and no equal work tells "
          "whether the machine did that; `fusegate replay` measures the baseline's program beside "
          "this one",
          format_effect(verdict.effect), format_effect(verdict.suite_moved));
    case Obstacle::kFewProcesses:
      return fmt::format(
          "{} by {}, but of {} processes a side and not confirmed by fresh ones; measure {}, or "
          "let the run be extended",
          verdict.effect > 0 ? "slower" : "faster", format_magnitude(verdict.effect),
          std::min(verdict.compared_in_baseline, verdict.compared_in_candidate),
          baselines::kFewestProcesses);
    case Obstacle::kFewInBaseline:
      return fmt::format(
          "{} by {}, but held against {} processes of the baseline, and fewer than {} call "
          "nothing, whatever is measured here; `fusegate replay` measures the baseline's program "
          "beside this one",
          verdict.effect > 0 ? "slower" : "faster", format_magnitude(verdict.effect),
          verdict.compared_in_baseline, baselines::kFewestProcesses);
    case Obstacle::kNotConfirmed:
      return not_confirmed(verdict);
    case Obstacle::kClockSaysSlower:
      return clock_text("slower", verdict);
    case Obstacle::kClockSaysFaster:
      return clock_text("faster", verdict);
    case Obstacle::kDisagreement:
      return fmt::format("{} at equal clock, but time ({}) and cycles ({}) do not both show it",
                         format_effect(verdict.effect), format_effect(verdict.effect_time),
                         format_effect(verdict.effect_cycles));
    case Obstacle::kControlsMoved:
      return controls_moved(verdict, rule);
    case Obstacle::kNotCertain:
      return fmt::format(
          "the interval lies beyond {}, but over the whole suite that may still be chance",
          band(rule));
    case Obstacle::kCardsDiffer:
      return fmt::format("the interval, widened by what cards differ by, reaches past {}",
                         band(rule));
    case Obstacle::kTooWide:
      return fmt::format("the interval reaches past {}, but not far enough to call it", band(rule));
  }
  return "not decided";
}

std::string text_without_choices(const Verdict& verdict, const Rule& rule) {
  switch (verdict.kind) {
    case VerdictKind::kRegression:
    case VerdictKind::kImprovement:
      break;
    case VerdictKind::kUnchanged:
      return fmt::format("the interval {} to {} lies within {}",
                         format_effect(verdict.interval.low), format_effect(verdict.interval.high),
                         band(rule));
    case VerdictKind::kIdentical:
      return identical(verdict);
    case VerdictKind::kInconclusive:
      return obstacle_text(verdict, rule);
    case VerdictKind::kNew:
      return verdict.failure.empty() ? "the baseline has no such benchmark" : verdict.failure;
    case VerdictKind::kMissing:
      return verdict.failure.empty() ? "the candidate has no such benchmark" : verdict.failure;
    case VerdictKind::kInvalid:
      return fmt::format("failed in the {}: {}",
                         verdict.failed_in_candidate ? "candidate" : "baseline",
                         verdict.failure.empty() ? "no invocation measured it" : verdict.failure);
  }
  return change(verdict, rule);
}

}  // namespace

bool cycles_tell_better(double time, double equal_clock, double cycles) {
  return std::isfinite(cycles) && std::abs(equal_clock) > std::abs(time) / 2 &&
         std::abs(cycles) < std::abs(equal_clock);
}

std::string reason_text(const Verdict& verdict, const Rule& rule) {
  std::string text = text_without_choices(verdict, rule);
  for (const baselines::ChoiceChange& choice : verdict.choice_changes) {
    text += fmt::format("; {} was {} and is {}", choice.name, choice.before, choice.after);
  }
  return text;
}

}  // namespace fusegate::ci
