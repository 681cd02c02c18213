#include "ci/gate/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::Modes;
using baselines::Obstacle;
using baselines::Quantity;
using baselines::Rule;
using baselines::Verdict;
using baselines::VerdictKind;

// What does not matter, "0.30 %"; both ends of it where they are of different sizes, "[-33.33,
// +50.00] %", lest an interval seem to lie within what it reaches past.
std::string band(const Verdict& verdict, const Rule& rule) {
  const double loss = limits_of(rule, verdict.settings).min_effect,
               gain = baselines::least_gain(loss);
  const std::string slower = format_magnitude(loss), faster = format_magnitude(gain);
  if (slower == faster) return slower;
  return format_interval({gain, loss});
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
std::string modes_text(const Modes& modes) {
  const auto& [lower, upper, p, p_confirmed] = modes;
  return fmt::format("bimodal: {} in {} processes, {} in {}", format_time_ns(lower.time_ns),
                     lower.baseline + lower.candidate, format_time_ns(upper.time_ns),
                     upper.baseline + upper.candidate);
}

// "bimodal: 10.00 % slower (4.170 us -> 4.300 us) in 6 of 10 processes, in the baseline in 0 of 10"
std::string slower_mode_text(const Modes& modes) {
  const auto& [lower, upper, p, p_confirmed] = modes;
  return fmt::format("bimodal: {} ({} -> {}) in {} of {} processes, in the baseline in {} of {}",
                     change_text(upper.time_ns / lower.time_ns - 1), format_time_ns(lower.time_ns),
                     format_time_ns(upper.time_ns), upper.candidate,
                     lower.candidate + upper.candidate, upper.baseline,
                     lower.baseline + upper.baseline);
}

std::string changed(const Verdict& verdict, const Rule& rule) {
  const std::optional<Modes>& modes = verdict.reason.modes;
  if (verdict.reason.slower_mode) return slower_mode_text(*modes);
  std::string text = change_text(verdict.estimates.effect) + quantities(verdict);
  if (verdict.kind == VerdictKind::kRegression && verdict.reason.clock_moved)
    text += power(verdict);
  text += fmt::format("; tested against {}",
                      format_magnitude(limits_of(rule, verdict.settings).tested_effect));
  if (verdict.candidate.confirming > 0) text += "; confirmed by " + fresh_processes(verdict);
  if (modes) text += "; " + modes_text(*modes) + ", each compared with its like";
  return text;
}

std::string identical(const Verdict& verdict) {
  const std::string text = "same machine code, launches and arguments on both sides";
  if (!std::isfinite(verdict.estimates.effect)) return text;
  return text + fmt::format("; measured difference {} (noise)", effect_text(verdict));
}

// "at equal clock (+1.00 %): the clock or the card differs"
std::string clock_text(const Verdict& verdict) {
  if (verdict.decided_by == Quantity::kCycles) {
    return fmt::format("in the CPU's cycles ({}): other work ran there, or the kernel waits",
                       effect_text(verdict));
  }
  const auto [where, effect] = without_clock(verdict.estimates);
  return fmt::format("{} ({}): the clock or the card differs", where, format_effect(effect));
}

std::string time_and_cycles(const baselines::Estimates& estimates) {
  const std::string time = format_effect(estimates.in_time);
  if (std::isnan(estimates.in_cycles)) return time;
  return fmt::format("{} in time and {} in cycles", time, format_effect(estimates.in_cycles));
}

constexpr NextStep more(std::string_view text) { return {kMeasureMore.action, text}; }
constexpr NextStep side_by_side(std::string_view text) { return {kMeasureSideBySide.action, text}; }

constexpr NextStep kMeasureTwo = more("Measure at least two");
constexpr NextStep kReplay =
    side_by_side("Run `fusegate replay`, which measures the baseline's program beside this one");
constexpr std::string_view kClockDiffers = "{time_change} in time, but not {clock}";

// What was found of an inconclusive benchmark, with the figures of finding_text(); what to do.
struct ObstacleText {
  Obstacle obstacle;
  std::string_view finding;
  NextStep advice;
};

constexpr ObstacleText kObstacleTexts[] = {
    {Obstacle::kNotMeasured, "not measured: {failure}",
     NextStep{kMeasureMore.action, "Allow more with --budget-gpu-s, or measure it with --only"}},
    {Obstacle::kNoSpread, "each side has one process, so the spread between processes is unknown",
     kMeasureTwo},
    {Obstacle::kBorrowedNoise,
     "each side has one process, which may be an outlier; the noise is estimated from the suite's "
     "other benchmarks",
     kMeasureTwo},
    {Obstacle::kSingleBaseline, "the baseline has one process, which may be an outlier",
     kMeasureTwo},
    {Obstacle::kSingleCandidate, "the candidate has one process, which may be an outlier",
     kMeasureTwo},
    {Obstacle::kMachineMoved,
     "its code is the same on both sides, so the machine changed: {time_and_cycles}",
     kCheckMachine},
    {Obstacle::kTwoModes, "{modes}", kMeasureMore},
    {Obstacle::kSlowerMode, "{slower_mode}, which may be chance", kMeasureMore},
    {Obstacle::kMachineUnknown,
     "{effect}, but a machine changes times by some percent from session to session, and too few "
     "benchmarks were measured to estimate how much",
     side_by_side("Measure both versions side by side (`fusegate duet`), or add benchmarks whose "
                  "code does not "
                  "change")},
    {Obstacle::kAmongOthers,
     "{effect}, but the baseline was co-measured with other benchmarks, which can change its time",
     side_by_side("Measure the same benchmarks on both sides, or run `fusegate replay`")},
    {Obstacle::kSuiteMoved,
     "{effect}, but most similar benchmarks changed too (median {common}); this may be the machine "
     "rather than the code",
     kReplay},
    {Obstacle::kFewProcesses, "{change} in {processes} processes per side; not yet confirmed",
     more("Measure at least 4, or allow more with --max-processes")},
    {Obstacle::kFewInBaseline,
     "{change}, but the baseline has only {of_baseline}; at least 4 are needed to report {call}",
     side_by_side("Re-record the baseline or run `fusegate replay`")},
    {Obstacle::kNotConfirmed,
     "{change} in all processes together, but {fresh} alone do not confirm it", kMeasureMore},
    {Obstacle::kClockSaysSlower, kClockDiffers, kReplay},
    {Obstacle::kClockSaysFaster, kClockDiffers, kReplay},
    {Obstacle::kDisagreement,
     "{effect} at equal clock, but time ({time}) and cycles ({cycles}) do not both show it",
     kReplay},
    {Obstacle::kControlsMoved,
     "{effect}, but not by {band} more than control benchmarks changed ({controls})",
     kCheckMachine},
    {Obstacle::kNotCertain,
     "the interval lies beyond {band}, but in a suite of this size that may be chance",
     kMeasureMore},
    {Obstacle::kCardsDiffer, "the interval, widened by how far cards differ, reaches beyond {band}",
     side_by_side("Run `fusegate replay`, or record the baseline on several cards")},
    {Obstacle::kTooWide,
     "the interval reaches beyond {band}, but not far enough to report a change", kMeasureMore}};
static_assert(baselines::kFewestProcesses == 4, "as the texts say");

const ObstacleText* obstacle_text(const Verdict& verdict) {
  const auto found =
      std::ranges::find(kObstacleTexts, verdict.reason.obstacle, &ObstacleText::obstacle);
  return found == std::end(kObstacleTexts) ? nullptr : &*found;
}

std::string finding_text(std::string_view text, const Verdict& verdict, const Rule& rule) {
  const auto& estimates = verdict.estimates;
  const Modes modes = verdict.reason.modes.value_or(Modes());
  const int of_baseline = verdict.baseline.compared;
  return fmt::format(
      fmt::runtime(text), fmt::arg("effect", effect_text(verdict)),
      fmt::arg("change", change_text(estimates.effect)),
      fmt::arg("call", estimates.effect > 0 ? "a regression" : "an improvement"),
      fmt::arg("time", format_effect(estimates.in_time)),
      fmt::arg("time_change", change_text(estimates.in_time)),
      fmt::arg("cycles", format_effect(estimates.in_cycles)),
      fmt::arg("time_and_cycles", time_and_cycles(estimates)),
      fmt::arg("clock", clock_text(verdict)), fmt::arg("band", band(verdict, rule)),
      fmt::arg("common", format_effect(estimates.common)),
      fmt::arg("controls", format_magnitude(estimates.controls)),
      fmt::arg("modes", modes_text(modes)), fmt::arg("slower_mode", slower_mode_text(modes)),
      fmt::arg("processes", std::min(of_baseline, verdict.candidate.compared)),
      fmt::arg("failure", verdict.reason.failure),
      fmt::arg("of_baseline", format_count(static_cast<std::size_t>(of_baseline), "process")),
      fmt::arg("fresh", fresh_processes(verdict)));
}

NextStep advice_of(const Verdict& verdict, const ObstacleText& text) {
  if (verdict.reason.machine_hides_it && text.advice.text == kMeasureMore.text) {
    return side_by_side("More processes cannot decide it; run `fusegate replay`");
  }
  const bool is_on_cpu = verdict.decided_by == Quantity::kCycles;
  return is_on_cpu && text.finding == kClockDiffers
             ? NextStep{kCheckMachine.action, "Stop other work on the machine and measure again"}
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
                         format_effect(verdict.estimates.interval.high), band(verdict, rule));
    case VerdictKind::kIdentical:
      return identical(verdict);
    case VerdictKind::kInconclusive: {
      const ObstacleText* text = obstacle_text(verdict);
      return text ? finding_text(text->finding, verdict, rule) : "not decided";
    }
    case VerdictKind::kNew:
      return failure.empty() ? "the baseline has no such benchmark" : failure;
    case VerdictKind::kMissing:
      return failure.empty() ? "the candidate has no such benchmark" : failure;
    case VerdictKind::kInvalid: {
      const char* const side = verdict.reason.failed_in_candidate ? "candidate" : "baseline";
      // A run leaves out what is identical to the baseline that it had, and is judged by another.
      return failure.empty()
                 ? fmt::format(
                       "was measured by no process of the {}, as where its code was identical "
                       "to another baseline's. Measure with --all",
                       side)
                 : fmt::format("failed in the {}: {}", side, failure);
    }
  }
  return changed(verdict, rule);
}

// By effect, the largest first; what has none last.
bool comes_first(const Verdict* left, const Verdict* right) {
  const auto size = [](const Verdict* verdict) {
    const double effect = verdict->estimates.effect;
    return std::isfinite(effect) ? std::abs(effect) : -1;
  };
  return std::pair(-size(left), std::string_view(left->benchmark)) <
         std::pair(-size(right), std::string_view(right->benchmark));
}

}  // namespace

std::string accepted_text(const Verdict& verdict) {
  if (!verdict.accepted) return "";
  const auto& [pattern, effect, reason, who, until, link] = *verdict.accepted;
  const std::string by =
      fmt::format("by {}: {}{}", who, reason, link.empty() ? "" : " (" + link + ")");
  const std::string most = format_fraction(effect.high);
  switch (verdict.accepted_state) {
    case baselines::AcceptedState::kCovers:
      return fmt::format("accepted up to {} until {} {}", most, until, by);
    case baselines::AcceptedState::kOutgrown:
      return fmt::format("no more than {} was accepted until {} {}", most, until, by);
    case baselines::AcceptedState::kExpired:
      break;
  }
  return fmt::format("it was accepted up to {} until {}, which has passed, {}", most, until, by);
}

WithoutClock without_clock(const baselines::Estimates& estimates) {
  const double equal_clock = estimates.effect, cycles = estimates.in_cycles;
  const bool cycles_show_it = std::isfinite(cycles) &&
                              std::abs(equal_clock) > std::abs(estimates.in_time) / 2 &&
                              std::abs(cycles) < std::abs(equal_clock);
  if (cycles_show_it) return {"in cycles", cycles};
  return {"at equal clock", equal_clock};
}

std::string reason_text(const Verdict& verdict, const Rule& rule) {
  std::string text = finding(verdict, rule);
  for (const baselines::ChoiceChange& choice : verdict.reason.choice_changes) {
    text += fmt::format("; {} was {} and is {}", choice.name, choice.before, choice.after);
  }
  if (verdict.kind == VerdictKind::kRegression && verdict.accepted) {
    text += "; " + accepted_text(verdict);
  }
  if (verdict.kind != VerdictKind::kInconclusive) return text;
  const ObstacleText* obstacle = obstacle_text(verdict);
  return obstacle ? fmt::format("{}. {}", text, advice_of(verdict, *obstacle).text) : text;
}

NextStep next_step(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::kRegression) return kChangeCode;
  if (verdict.kind == VerdictKind::kInvalid) return kFixFailure;
  if (verdict.kind != VerdictKind::kInconclusive) return kNothingToDo;
  const ObstacleText* obstacle = obstacle_text(verdict);
  return obstacle ? advice_of(verdict, *obstacle) : kMeasureMore;
}

std::vector<VerdictGroup> group_verdicts(const std::vector<Verdict>& verdicts) {
  std::vector<VerdictGroup> groups;
  for (const VerdictKind kind : kVerdictOrder) {
    VerdictGroup group{kind, {}};
    for (const Verdict& verdict : verdicts) {
      const bool is_apart = kind == VerdictKind::kRegression && verdict.is_accepted();
      if (verdict.kind == kind && !is_apart) group.verdicts.push_back(&verdict);
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
