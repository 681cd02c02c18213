#include "baselines/comparing/decision.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kConfirmationLevel = 0.05;

bool is_certain(const Evidence& evidence, double p) {
  return p <= evidence.rule.false_discovery_rate;
}

bool is_confirmed(const Evidence& evidence, double p_of_fresh) {
  return evidence.comparison.of_candidate.fresh == 0 || p_of_fresh <= kConfirmationLevel;
}

// Whether the machine cannot have moved the candidate by as much as the clusters lie apart. Of two
// sessions identical code shows that, or nothing does.
bool machine_makes_no_modes(const Evidence& evidence) {
  const Comparison& comparison = evidence.comparison;
  if (evidence.circumstances.side_by_side) return true;
  if (!comparison.machine) return false;
  const double gap = std::log(comparison.modes->upper.time_ns / comparison.modes->lower.time_ns);
  const ScaledT& scatter = comparison.stated().scatter;
  return std::abs(comparison.machine->shift) +
             upper_quantile(scatter, evidence.rule.false_discovery_rate) <
         gap / 2;
}

// 1: slower, -1: faster by more than matters, as far as the interval goes; 0: it reaches into what
// does not.
double direction_of(const Evidence& evidence) {
  const double min_effect = evidence.comparison.limits.min_effect;
  if (evidence.interval.low > min_effect) return 1;
  return evidence.interval.high < least_gain(min_effect) ? -1 : 0;
}

// Whether time is reported beside what decides: a clock that fell may be the card's or the day's
// doing, and time on a CPU that of other work there.
bool has_time_beside(const Evidence& evidence) {
  return evidence.comparison.decides == Quantity::kEqualClock || evidence.circumstances.on_cpu;
}

std::optional<bool> slower_by_clock(const Evidence& evidence) {
  if (!has_time_beside(evidence)) return std::nullopt;
  return slower_by_the_clock(evidence.comparison, evidence.rule.false_discovery_rate);
}

// The checks, in the order of the list below.

bool has_single_process(const Evidence& evidence) { return evidence.comparison.has_single_process; }

bool has_single_candidate(const Evidence& evidence) {
  return has_single_process(evidence) && evidence.comparison.candidate->processes.size() < 2;
}

bool is_slower(const Evidence& evidence) {
  return is_certain(evidence, evidence.comparison.p_slower);
}

bool is_faster(const Evidence& evidence) {
  return is_certain(evidence, evidence.comparison.p_faster);
}

bool differs(const Evidence& evidence) { return is_slower(evidence) || is_faster(evidence); }

bool is_control_and_differs(const Evidence& evidence) {
  return evidence.comparison.is_control && differs(evidence);
}

// What a process measures besides may have moved it.
bool differs_among_others(const Evidence& evidence) {
  return differs(evidence) && evidence.circumstances.among_others &&
         !evidence.comparison.machine_is_known;
}

bool differs_by_few_processes(const Evidence& evidence) {
  return differs(evidence) && evidence.comparison.lacks_processes();
}

// What is measured now adds to the candidate, and to the baseline only where that is measured too.
bool differs_from_few_stored(const Evidence& evidence) {
  return differs_by_few_processes(evidence) && !evidence.circumstances.side_by_side &&
         evidence.comparison.of_baseline.are_few();
}

bool is_slower_and_confirmed(const Evidence& evidence) {
  return is_slower(evidence) && is_confirmed(evidence, evidence.comparison.p_slower_confirmed);
}

bool is_faster_and_confirmed(const Evidence& evidence) {
  return !is_slower(evidence) && is_faster(evidence) &&
         is_confirmed(evidence, evidence.comparison.p_faster_confirmed);
}

bool is_bimodal(const Evidence& evidence) { return evidence.comparison.modes.has_value(); }

// Time that got slower, whatever the reason, is not unchanged; nor is a bimodal benchmark, whose
// clusters may be taken more or less often.
bool is_unchanged(const Evidence& evidence) {
  const double threshold = std::log1p(evidence.comparison.limits.min_effect);
  return !clock_moved(evidence) && !is_bimodal(evidence) && evidence.logarithms.low >= -threshold &&
         evidence.logarithms.high <= threshold;
}

// But it may be chance: the baseline shows the slower cluster in none of its processes, or the
// candidate in so many more.
bool may_take_slower_mode(const Evidence& evidence) {
  constexpr double kSeldom = 0.1;
  if (!is_bimodal(evidence)) return false;
  const Modes& modes = *evidence.comparison.modes;
  return modes.upper.candidate > 0 && (modes.upper.baseline == 0 || modes.p_slower <= kSeldom);
}

bool differs_by_itself(const Evidence& evidence) {
  return is_certain(evidence, evidence.comparison.p_by_itself);
}

bool differs_by_itself_among_few(const Evidence& evidence) {
  return differs_by_itself(evidence) && evidence.comparison.common->is_of_few;
}

bool is_slower_by_clock(const Evidence& evidence) {
  return slower_by_clock(evidence).value_or(false);
}

bool is_faster_by_clock(const Evidence& evidence) {
  return !slower_by_clock(evidence).value_or(true);
}

bool lies_beyond_what_matters(const Evidence& evidence) { return direction_of(evidence) != 0; }

bool time_and_cycles_disagree(const Evidence& evidence) {
  const Comparison& comparison = evidence.comparison;
  const double direction = direction_of(evidence);
  return direction != 0 && comparison.decides == Quantity::kEqualClock &&
         !both_show(comparison.time, *comparison.cycles, direction, comparison.limits.min_effect);
}

bool moved_as_controls(const Evidence& evidence) {
  const double direction = direction_of(evidence);
  return direction != 0 && evidence.comparison.controls_moved.in_direction(direction) > 0;
}

struct Check {
  bool (*applies)(const Evidence&);
  VerdictKind kind;
  Obstacle obstacle = Obstacle::kNone;
};

constexpr VerdictKind kOpen = VerdictKind::kInconclusive;

// One process may be an outlier, which no variance within the other side can show: of four
// processes of unchanged code (testdata/h200-same-code/paced-5ms), one timed a 1.9 us kernel 13 %
// below the other three, which agreed within 0.8 %. So it takes two on each side to call anything.
constexpr Check kChecks[] = {
    {[](const Evidence& own) { return own.comparison.is_identical; }, VerdictKind::kIdentical},
    {[](const Evidence& own) { return !own.comparison.has_estimate(); }, kOpen,
     Obstacle::kNoSpread},
    {[](const Evidence& own) { return own.comparison.has_borrowed_noise; }, kOpen,
     Obstacle::kBorrowedNoise},
    {has_single_candidate, kOpen, Obstacle::kSingleCandidate},
    {has_single_process, kOpen, Obstacle::kSingleBaseline},
    {is_control_and_differs, kOpen, Obstacle::kMachineMoved},
    {differs_among_others, kOpen, Obstacle::kAmongOthers},
    {differs_from_few_stored, kOpen, Obstacle::kFewInBaseline},
    {differs_by_few_processes, kOpen, Obstacle::kFewProcesses},
    {takes_slower_mode, VerdictKind::kRegression},
    {is_slower_and_confirmed, VerdictKind::kRegression},
    {is_faster_and_confirmed, VerdictKind::kImprovement},
    {differs, kOpen, Obstacle::kNotConfirmed},
    {is_unchanged, VerdictKind::kUnchanged},
    {[](const Evidence& own) { return own.comparison.has_moved; }, kOpen, Obstacle::kMachineMoved},
    {may_take_slower_mode, kOpen, Obstacle::kSlowerMode},
    {is_bimodal, kOpen, Obstacle::kTwoModes},
    {differs_by_itself_among_few, kOpen, Obstacle::kMachineUnknown},
    {differs_by_itself, kOpen, Obstacle::kSuiteMoved},
    {is_slower_by_clock, kOpen, Obstacle::kClockSaysSlower},
    {is_faster_by_clock, kOpen, Obstacle::kClockSaysFaster},
    {time_and_cycles_disagree, kOpen, Obstacle::kDisagreement},
    {moved_as_controls, kOpen, Obstacle::kControlsMoved},
    {lies_beyond_what_matters, kOpen, Obstacle::kNotCertain},
    {[](const Evidence& own) { return own.circumstances.other_card; }, kOpen,
     Obstacle::kCardsDiffer},
    {[](const Evidence&) { return true; }, kOpen, Obstacle::kTooWide},
};

}  // namespace

bool takes_slower_mode(const Evidence& evidence) {
  const Comparison& comparison = evidence.comparison;
  return comparison.modes && !comparison.is_unchangeable() && !comparison.lacks_processes() &&
         is_certain(evidence, comparison.p_slower_mode) &&
         is_confirmed(evidence, comparison.modes->p_slower_confirmed) &&
         machine_makes_no_modes(evidence);
}

bool clock_moved(const Evidence& evidence) {
  return !evidence.comparison.has_single_process && slower_by_clock(evidence).has_value();
}

Decision decide(const Evidence& evidence) {
  const auto check =
      std::ranges::find_if(kChecks, [&](const Check& one) { return one.applies(evidence); });
  return {check->kind, check->obstacle};
}

}  // namespace fusegate::baselines
