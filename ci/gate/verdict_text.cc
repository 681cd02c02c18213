#include "ci/gate/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

std::string effect_text(const Verdict& verdict) { return format_effect(verdict.estimates.effect); }

// "4.50 % slower"
std::string change_text(double effect) {
  return fmt::format("{} {}", format_magnitude(effect), effect > 0 ? "slower" : "faster");
}

// " in time (+0.05 % at equal clock, +0.04 % in cycles)": first what decides.
std::string quantities(const Verdict& verdict) {
  const std::string time = format_effect(verdict.estimates.in_time);
  const std::string cycles = format_effect(verdict.estimates.in_cycles);
  switch (verdict.decided_by) {
    case Quantity::kTime:
      if (std::isnan(verdict.estimates.in_cycles)) return " in time (no cycles to confirm it)";
      return fmt::format(" in time ({} at equal clock, {} in cycles)",
                         format_effect(verdict.estimates.at_equal_clock), cycles);
    case Quantity::kEqualClock:
      return fmt::format(" at equal clock ({} in time, {} in cycles)", time, cycles);
    case Quantity::kCycles:
      return fmt::format(" in cycles ({} in time)", time);
  }
  return "";
}

std::string power(const Verdict& verdict) {
  const double before = verdict.baseline.energy_j, after = verdict.candidate.energy_j;
  std::string text = "; it draws more power, which lowers the clock";
  if (!std::isfinite(before) || !std::isfinite(after)) return text;
  return text + fmt::format(" ({} -> {} a call)", format_energy_j(before), format_energy_j(after));
}

// "5 fresh processes"
std::string fresh_processes(const Verdict& verdict) {
  return format_count(static_cast<std::size_t>(verdict.candidate.confirming), "fresh process");
}

// "bimodal: 4.170 us in 8 processes, 4.300 us in 2"
std::string modes_text(const Verdict& verdict) {
  const auto& [lower, upper, p, p_confirmed] = *verdict.reason.modes;
  return fmt::format("bimodal: {} in {} processes, {} in {}", format_time_ns(lower.time_ns),
                     lower.baseline + lower.candidate, format_time_ns(upper.time_ns),
                     upper.baseline + upper.candidate);
}

// "bimodal: 10.00 % slower (4.170 us -> 4.300 us) in 6 of 10 processes, in the baseline in 0 of 10"
std::string slower_mode_text(const Verdict& verdict) {
  const auto& [lower, upper, p, p_confirmed] = *verdict.reason.modes;
  return fmt::format("bimodal: {} ({} -> {}) in {} of {} processes, in the baseline in {} of {}",
                     change_text(upper.time_ns / lower.time_ns - 1), format_time_ns(lower.time_ns),
                     format_time_ns(upper.time_ns), upper.candidate,
                     lower.candidate + upper.candidate, upper.baseline,
                     lower.baseline + upper.baseline);
}

std::string changed(const Verdict& verdict, const Rule& rule) {
  if (verdict.reason.slower_mode) return slower_mode_text(verdict);
  const bool slower = verdict.kind == VerdictKind::kRegression;
  std::string text = fmt::format("{} {}", format_magnitude(verdict.estimates.effect),
                                 slower ? "slower" : "faster");
  text += quantities(verdict);
  if (slower && verdict.reason.clock_moved) text += power(verdict);
  text += fmt::format("; tested against {}", format_magnitude(tested_effect(rule)));
  if (verdict.candidate.confirming > 0) text += "; confirmed by " + fresh_processes(verdict);
  if (verdict.reason.modes) text += "; " + modes_text(verdict) + ", each compared with its like";
  return text;
}

std::string identical(const Verdict& verdict) {
  const std::string text = "same machine code, launches and arguments on both sides";
  if (!std::isfinite(verdict.estimates.effect)) return text;
  return text + fmt::format("; measured difference {} (noise)", effect_text(verdict));
}

// What was found of an inconclusive benchmark, by its obstacle.

std::string no_spread(const Verdict&, const Rule&) {
  return "each side has one process, so the spread between processes is unknown";
}

std::string borrowed_noise(const Verdict&, const Rule&) {
  return "each side has one process, which may be an outlier; the noise is estimated from the "
         "suite's other benchmarks";
}

std::string single_baseline(const Verdict&, const Rule&) {
  return "the baseline has one process, which may be an outlier";
}

std::string single_candidate(const Verdict&, const Rule&) {
  return "the candidate has one process, which may be an outlier";
}

std::string machine_moved(const Verdict& verdict, const Rule&) {
  const auto& estimates = verdict.estimates;
  std::string text = fmt::format("its code is the same on both sides, so the machine changed: {}",
                                 format_effect(estimates.in_time));
  if (std::isnan(estimates.in_cycles)) return text;
  return text + fmt::format(" in time and {} in cycles", format_effect(estimates.in_cycles));
}

std::string two_modes(const Verdict& verdict, const Rule&) { return modes_text(verdict); }

std::string slower_mode(const Verdict& verdict, const Rule&) {
  return slower_mode_text(verdict) + ", which may be chance";
}

std::string machine_unknown(const Verdict& verdict, const Rule&) {
  return fmt::format(
      "{}, but a machine changes times by some percent from session to session, and too few "
      "benchmarks were measured to estimate how much",
      effect_text(verdict));
}

std::string among_others(const Verdict& verdict, const Rule&) {
  return fmt::format(
      "{}, but the baseline was co-measured with other benchmarks, which can change its time",
      effect_text(verdict));
}

std::string suite_moved(const Verdict& verdict, const Rule&) {
  return fmt::format(
      "{}, but most similar benchmarks changed too (median {}); this may be the machine rather "
      "than the code",
      effect_text(verdict), format_effect(verdict.estimates.common));
}

std::string few_processes(const Verdict& verdict, const Rule&) {
  return fmt::format("{} in {} processes per side; not yet confirmed",
                     change_text(verdict.estimates.effect),
                     std::min(verdict.baseline.compared, verdict.candidate.compared));
}

std::string few_in_baseline(const Verdict& verdict, const Rule&) {
  return fmt::format("{}, but the baseline has only {}; at least {} are needed to report {}",
                     change_text(verdict.estimates.effect),
                     format_count(static_cast<std::size_t>(verdict.baseline.compared), "process"),
                     baselines::kFewestProcesses,
                     verdict.estimates.effect > 0 ? "a regression" : "an improvement");
}

std::string not_confirmed(const Verdict& verdict, const Rule&) {
  return fmt::format("{} in all processes together, but {} alone do not confirm it",
                     change_text(verdict.estimates.effect), fresh_processes(verdict));
}

std::string clock_differs(const Verdict& verdict, const Rule&) {
  const auto& estimates = verdict.estimates;
  const std::string in_time = change_text(estimates.in_time);
  if (verdict.decided_by == Quantity::kCycles) {
    return fmt::format(
        "{} in time, but not in the CPU's cycles ({}): other work ran there, or the kernel waits",
        in_time, effect_text(verdict));
  }
  const bool by_cycles = cycles_show_clock(estimates);
  return fmt::format("{} in time, but not {} ({}): the clock or the card differs", in_time,
                     by_cycles ? "in cycles" : "at equal clock",
                     format_effect(by_cycles ? estimates.in_cycles : estimates.effect));
}

std::string disagreement(const Verdict& verdict, const Rule&) {
  return fmt::format("{} at equal clock, but time ({}) and cycles ({}) do not both show it",
                     effect_text(verdict), format_effect(verdict.estimates.in_time),
                     format_effect(verdict.estimates.in_cycles));
}

std::string controls_moved(const Verdict& verdict, const Rule& rule) {
  return fmt::format("{}, but not by {} more than control benchmarks changed ({})",
                     effect_text(verdict), band(rule),
                     format_magnitude(verdict.estimates.controls));
}

std::string not_certain(const Verdict&, const Rule& rule) {
  return fmt::format("the interval lies beyond {}, but in a suite of this size that may be chance",
                     band(rule));
}

std::string cards_differ(const Verdict&, const Rule& rule) {
  return fmt::format("the interval, widened by how far cards differ, reaches beyond {}",
                     band(rule));
}

std::string too_wide(const Verdict&, const Rule& rule) {
  return fmt::format("the interval reaches beyond {}, but not far enough to report a change",
                     band(rule));
}

constexpr std::string_view kMeasureTwo = "Measure at least two";
constexpr std::string_view kMeasureMore =
    "Measure more processes, or allow more with --max-processes";
constexpr std::string_view kReplay =
    "Run `fusegate replay`, which measures the baseline's program beside this one";
constexpr std::string_view kCheckMachine =
    "Check the machine with `fusegate doctor` and measure again";

// The names of obstacles, in words.
struct ObstacleText {
  Obstacle obstacle;
  std::string (*finding)(const Verdict&, const Rule&);
  std::string_view advice;
};

constexpr std::array kObstacleTexts{
    ObstacleText{Obstacle::kNoSpread, no_spread, kMeasureTwo},
    ObstacleText{Obstacle::kBorrowedNoise, borrowed_noise, kMeasureTwo},
    ObstacleText{Obstacle::kSingleBaseline, single_baseline, kMeasureTwo},
    ObstacleText{Obstacle::kSingleCandidate, single_candidate, kMeasureTwo},
    ObstacleText{Obstacle::kMachineMoved, machine_moved, kCheckMachine},
    ObstacleText{Obstacle::kTwoModes, two_modes, kMeasureMore},
    ObstacleText{Obstacle::kSlowerMode, slower_mode, kMeasureMore},
    ObstacleText{Obstacle::kMachineUnknown, machine_unknown,
                 "Measure both versions side by side (`fusegate duet`), or add benchmarks whose "
                 "code does not change"},
    ObstacleText{Obstacle::kAmongOthers, among_others,
                 "Measure the same benchmarks on both sides, or run `fusegate replay`"},
    ObstacleText{Obstacle::kSuiteMoved, suite_moved, kReplay},
    ObstacleText{Obstacle::kFewProcesses, few_processes,
                 "Measure at least 4, or allow more with --max-processes"},
    ObstacleText{Obstacle::kFewInBaseline, few_in_baseline,
                 "Re-record the baseline or run `fusegate replay`"},
    ObstacleText{Obstacle::kNotConfirmed, not_confirmed, kMeasureMore},
    ObstacleText{Obstacle::kClockSaysSlower, clock_differs, kReplay},
    ObstacleText{Obstacle::kClockSaysFaster, clock_differs, kReplay},
    ObstacleText{Obstacle::kDisagreement, disagreement, kReplay},
    ObstacleText{Obstacle::kControlsMoved, controls_moved, kCheckMachine},
    ObstacleText{Obstacle::kNotCertain, not_certain, kMeasureMore},
    ObstacleText{Obstacle::kCardsDiffer, cards_differ,
                 "Run `fusegate replay`, or record the baseline on several cards"},
    ObstacleText{Obstacle::kTooWide, too_wide, kMeasureMore}};
static_assert(baselines::kFewestProcesses == 4, "as the advice says");

const ObstacleText* obstacle_text(const Verdict& verdict) {
  const auto found =
      std::ranges::find(kObstacleTexts, verdict.reason.obstacle, &ObstacleText::obstacle);
  return found == kObstacleTexts.end() ? nullptr : &*found;
}

std::string_view advice_of(const Verdict& verdict, const ObstacleText& text) {
  if (verdict.reason.machine_hides_it && text.advice == kMeasureMore) {
    return "More processes cannot decide it; run `fusegate replay`";
  }
  const bool is_on_cpu = verdict.decided_by == Quantity::kCycles;
  return is_on_cpu && text.finding == clock_differs
             ? "Stop other work on the machine and measure again"
             : text.advice;
}

std::string finding(const Verdict& verdict, const Rule& rule) {
  const std::string& failure = verdict.reason.failure;
  switch (verdict.kind) {
    case VerdictKind::kRegression:
    case VerdictKind::kImprovement:
      break;
    case VerdictKind::kUnchanged:
      return fmt::format("the interval {} to {} lies within {}",
                         format_effect(verdict.estimates.interval.low),
                         format_effect(verdict.estimates.interval.high), band(rule));
    case VerdictKind::kIdentical:
      return identical(verdict);
    case VerdictKind::kInconclusive: {
      const ObstacleText* text = obstacle_text(verdict);
      return text ? text->finding(verdict, rule) : "not decided";
    }
    case VerdictKind::kNew:
      return failure.empty() ? "the baseline has no such benchmark" : failure;
    case VerdictKind::kMissing:
      return failure.empty() ? "the candidate has no such benchmark" : failure;
    case VerdictKind::kInvalid:
      return fmt::format("failed in the {}: {}",
                         verdict.reason.failed_in_candidate ? "candidate" : "baseline",
                         failure.empty() ? "no process measured it" : failure);
  }
  return changed(verdict, rule);
}

constexpr std::array kOrder{VerdictKind::kRegression,   VerdictKind::kInvalid,
                            VerdictKind::kMissing,      VerdictKind::kImprovement,
                            VerdictKind::kInconclusive, VerdictKind::kNew,
                            VerdictKind::kUnchanged,    VerdictKind::kIdentical};

double size_of_effect(const Verdict& verdict) {
  const double effect = verdict.estimates.effect;
  return std::isfinite(effect) ? std::abs(effect) : -1;
}

bool comes_first(const Verdict* left, const Verdict* right) {
  const double left_size = size_of_effect(*left), right_size = size_of_effect(*right);
  return left_size != right_size ? left_size > right_size : left->benchmark < right->benchmark;
}

}  // namespace

bool cycles_show_clock(const baselines::Estimates& estimates) {
  const auto& [time, equal_clock, cycles] =
      std::tuple(estimates.in_time, estimates.effect, estimates.in_cycles);
  return std::isfinite(cycles) && std::abs(equal_clock) > std::abs(time) / 2 &&
         std::abs(cycles) < std::abs(equal_clock);
}

std::string reason_text(const Verdict& verdict, const Rule& rule) {
  std::string text = finding(verdict, rule);
  for (const baselines::ChoiceChange& choice : verdict.reason.choice_changes) {
    text += fmt::format("; {} was {} and is {}", choice.name, choice.before, choice.after);
  }
  if (verdict.kind != VerdictKind::kInconclusive) return text;
  const ObstacleText* obstacle = obstacle_text(verdict);
  return obstacle ? fmt::format("{}. {}", text, advice_of(verdict, *obstacle)) : text;
}

std::vector<VerdictGroup> group_verdicts(const std::vector<Verdict>& verdicts) {
  std::vector<VerdictGroup> groups;
  for (const VerdictKind kind : kOrder) {
    VerdictGroup group{kind, {}};
    for (const Verdict& verdict : verdicts) {
      if (verdict.kind == kind) group.verdicts.push_back(&verdict);
    }
    std::ranges::sort(group.verdicts, comes_first);
    if (!group.verdicts.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string count_text(std::size_t count, VerdictKind kind) {
  const std::string_view name = baselines::verdict_name(kind);
  const bool countable = kind == VerdictKind::kRegression || kind == VerdictKind::kImprovement;
  return countable ? format_count(count, name) : fmt::format("{} {}", count, name);
}

}  // namespace fusegate::ci
