#include "baselines/comparing/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "baselines/comparing/compare_suite.h"
#include "baselines/comparing/comparison.h"
#include "baselines/comparing/modes.h"
#include "baselines/comparing/outlier_processes.h"
#include "baselines/io/error.h"
#include "baselines/launches/choice.h"

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPower = 0.9;
constexpr double kConfirmationLevel = 0.05;

void check(const Rule& rule) {
  const auto is_share = [](double value) { return value > 0 && value < 1; };
  if (!(rule.min_effect >= 0) || !std::isfinite(rule.min_effect)) {
    throw InputError("rule", "min_effect", "must be zero or a positive number");
  }
  if (!(tested_effect(rule) >= 0) || tested_effect(rule) > rule.min_effect) {
    throw InputError("rule", "tested_effect", "must lie between zero and min_effect");
  }
  if (!is_share(rule.false_discovery_rate)) {
    throw InputError("rule", "false_discovery_rate", "must lie between 0 and 1");
  }
  if (!is_share(rule.confidence)) {
    throw InputError("rule", "confidence", "must lie between 0 and 1");
  }
}

double geometric_mean_ns(const BenchmarkSeries& series) {
  if (series.invocations.empty()) return kNan;
  double sum = 0;
  for (const InvocationSummary& summary : series.invocations) sum += std::log(summary.time_ns);
  return std::exp(sum / static_cast<double>(series.invocations.size()));
}

void describe_side(const BenchmarkSeries* series, double& time_ns, int& invocations,
                   std::vector<Doubt>& doubts) {
  time_ns = series ? geometric_mean_ns(*series) : kNan;
  invocations = series ? static_cast<int>(series->invocations.size()) : 0;
  if (series) add_doubts(doubts, series->doubts);
}

// All that does not need statistics; a series is null where its run lacks the benchmark.
Verdict described(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate) {
  Verdict verdict;
  verdict.benchmark = baseline ? baseline->name : candidate->name;
  verdict.effect = verdict.effect_time = verdict.effect_cycles = kNan;
  verdict.effect_equal_clock = verdict.machine_effect = verdict.ruled_out = kNan;
  verdict.baseline_energy_j = verdict.candidate_energy_j = kNan;
  verdict.clock_share = verdict.smallest_detectable = kNan;
  verdict.interval = {kNan, kNan};
  describe_side(baseline, verdict.baseline_ns, verdict.baseline_invocations, verdict.doubts);
  describe_side(candidate, verdict.candidate_ns, verdict.candidate_invocations, verdict.doubts);
  return verdict;
}

bool failed(const BenchmarkSeries* series) {
  return series && (!series->failure.empty() || series->invocations.empty());
}

// Equal work of which a side was not timed: it need not be.
bool identical_untimed(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate) {
  return baseline && candidate && baseline->failure.empty() && candidate->failure.empty() &&
         (baseline->invocations.empty() || candidate->invocations.empty()) &&
         equal_work(*baseline, *candidate);
}

// Of a benchmark that cannot or need not be compared; kInconclusive where it can.
void describe_uncompared(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate,
                         Verdict& verdict) {
  if (identical_untimed(baseline, candidate)) {
    verdict.kind = VerdictKind::kIdentical;
    verdict.ruled_out = 0;
    return;
  }
  verdict.failed_in_candidate = failed(candidate);
  if (failed(baseline) || failed(candidate)) {
    verdict.kind = VerdictKind::kInvalid;
    verdict.failure = verdict.failed_in_candidate ? candidate->failure : baseline->failure;
  } else if (!baseline || !candidate) {
    verdict.kind = baseline ? VerdictKind::kMissing : VerdictKind::kNew;
  }
}

// What its kind shares, where nothing tells whether the machine or the code did that.
double common_shift(const Comparison& comparison) {
  return comparison.common ? comparison.common->shift : 0;
}

// Of the code's effect: some part of what its kind shares may be the machine's.
Interval interval_of(const Comparison& comparison, const Circumstances& circumstances,
                     const Rule& rule) {
  Interval interval = confidence_interval(comparison.stated(circumstances), rule.confidence);
  interval.low -= std::max(0.0, common_shift(comparison));
  interval.high -= std::min(0.0, common_shift(comparison));
  return interval;
}

// Solving for the noncentrality costs more than all else of a verdict, and the benchmarks of a
// suite have nearly the same degrees of freedom.
class DetectableEffects {
 public:
  DetectableEffects(std::size_t suite_size, const Circumstances& circumstances, const Rule& rule)
      : threshold_(tested_effect(rule)), circumstances_(circumstances) {
    const double size = std::max(1.0, static_cast<double>(suite_size));
    level_ = rule.false_discovery_rate * std::max(1.0, std::ceil(size / 10)) / size;
  }

  double operator()(const Comparison& comparison) {
    const Contrast& stated = comparison.stated(circumstances_);
    const double errors = stated.scatter.scale > 0
                              ? error_quantile(stated, level_) + error_quantile(stated, 1 - kPower)
                              : in_errors(stated) * stated.standard_error;
    return std::expm1(std::log1p(threshold_) + std::abs(common_shift(comparison)) + errors);
  }

 private:
  double in_errors(const Contrast& contrast) {
    // Steps of 2 %: that much in the degrees of freedom moves the answer by less than 1 %.
    constexpr double kStepsAnE = 50;
    const double rounded =
        std::exp(std::round(kStepsAnE * std::log(contrast.degrees_of_freedom)) / kStepsAnE);
    const auto [found, inserted] = known_.try_emplace(rounded, 0);
    if (inserted) found->second = detectable_noncentrality(rounded, level_, kPower);
    return found->second;
  }

  double threshold_;
  const Circumstances& circumstances_;
  double level_ = 0;
  std::map<double, double> known_;  // by rounded degrees of freedom
};

// Whether time is beside what decides: a clock that fell may be the card's or the day's doing, and
// time on a CPU that of other work there.
bool time_is_told(const Comparison& comparison, const Circumstances& circumstances) {
  return comparison.decided_by(circumstances) == Quantity::kEqualClock || circumstances.on_cpu;
}

// Whether time got slower for such a reason.
bool clock_moved(const Comparison& comparison, const Circumstances& circumstances,
                 const Rule& rule) {
  return time_is_told(comparison, circumstances) && !comparison.has_single_invocation &&
         slower_by_the_clock(comparison, rule).has_value();
}

// Whether it is certain, and what was measured afresh says so too.
bool is_confirmed(const Comparison& comparison, double p_confirmed) {
  return comparison.of_candidate.fresh == 0 || p_confirmed <= kConfirmationLevel;
}

// Whether the machine cannot have moved the candidate by as much as the modes lie apart. Of two
// sessions identical code tells, or nothing.
bool machine_makes_no_modes(const Comparison& comparison, const Circumstances& circumstances,
                            const Rule& rule) {
  if (circumstances.side_by_side) return true;
  if (!comparison.machine_shift) return false;
  const double gap =
      std::log(comparison.modes->upper.time_ns / comparison.modes->lower.time_ns);
  const ScaledT& scatter = comparison.stated(circumstances).scatter;
  return std::abs(*comparison.machine_shift) +
             upper_quantile(scatter, rule.false_discovery_rate) <
         gap / 2;
}

// Whether more of the candidate's processes take the slower of two modes, for certain.
bool takes_slower_mode(const Comparison& comparison, const Circumstances& circumstances,
                       const Rule& rule) {
  return comparison.modes && !comparison.is_unchangeable() && !comparison.lacks_processes() &&
         comparison.p_slower_mode <= rule.false_discovery_rate &&
         is_confirmed(comparison, comparison.modes->p_slower_confirmed) &&
         machine_makes_no_modes(comparison, circumstances, rule);
}

// Likewise, but it may be chance: the baseline shows the slower one in none of its processes, or
// the candidate in so many more.
bool may_take_slower_mode(const Modes& modes) {
  constexpr double kSeldom = 0.1;
  return modes.upper.candidate > 0 && (modes.upper.baseline == 0 || modes.p_slower <= kSeldom);
}

// Whether the benchmarks that it was measured among may have moved it.
bool others_may_move(const Comparison& comparison, const Circumstances& circumstances) {
  return circumstances.among_others && !comparison.machine_is_known;
}

// One invocation may be the odd one out, which no variance within the other side can tell: of four
// processes of unchanged code (testdata/h200-same-code/paced-5ms), one timed a 1.9 us kernel 13 %
// below the other three, which agreed within 0.8 %. So it takes two on each side to call anything.
VerdictKind kind_of(const Comparison& comparison, const Circumstances& circumstances,
                    const Interval& interval, const Rule& rule) {
  if (comparison.is_identical) return VerdictKind::kIdentical;
  if (comparison.has_single_invocation) return VerdictKind::kInconclusive;
  const bool slower = comparison.p_slower <= rule.false_discovery_rate;
  const bool faster = comparison.p_faster <= rule.false_discovery_rate;
  if (comparison.is_control && (slower || faster)) return VerdictKind::kInconclusive;
  if ((slower || faster) && (comparison.lacks_processes() ||
                             others_may_move(comparison, circumstances))) {
    return VerdictKind::kInconclusive;
  }
  if (takes_slower_mode(comparison, circumstances, rule)) return VerdictKind::kRegression;
  if (slower) {
    return is_confirmed(comparison, comparison.p_slower_confirmed) ? VerdictKind::kRegression
                                                                   : VerdictKind::kInconclusive;
  }
  if (faster) {
    return is_confirmed(comparison, comparison.p_faster_confirmed) ? VerdictKind::kImprovement
                                                                   : VerdictKind::kInconclusive;
  }
  // Time got slower, whatever the reason: that must not be called unchanged.
  if (clock_moved(comparison, circumstances, rule)) return VerdictKind::kInconclusive;
  // How often either mode is seen may have changed.
  if (comparison.modes) return VerdictKind::kInconclusive;
  const double threshold = std::log1p(rule.min_effect);
  const bool inside = interval.low >= -threshold && interval.high <= threshold;
  return inside ? VerdictKind::kUnchanged : VerdictKind::kInconclusive;
}

// 1: slower, -1: faster by more than matters, as far as the interval tells; 0: it reaches into
// what does not.
double direction_of(const Interval& interval, const Rule& rule) {
  if (interval.low > rule.min_effect) return 1;
  return interval.high < least_gain(rule) ? -1 : 0;
}

// On which side processes lack. What is measured now adds to the candidate, and to the baseline
// only where that is measured beside it.
Obstacle lacking(const Comparison& comparison, const Circumstances& circumstances) {
  const bool is_stored = !circumstances.side_by_side && comparison.of_baseline.are_few();
  return is_stored ? Obstacle::kFewInBaseline : Obstacle::kFewProcesses;
}

double moved(const Comparison& comparison, double direction) {
  return direction > 0 ? comparison.controls_moved.slower : comparison.controls_moved.faster;
}

// The first of them, in the order in which they weigh.
Obstacle obstacle_of(const Comparison& comparison, const Circumstances& circumstances,
                     const Interval& interval, const Rule& rule) {
  if (!comparison.has_estimate()) return Obstacle::kNoSpread;
  if (comparison.has_borrowed_noise) return Obstacle::kBorrowedNoise;
  if (comparison.has_single_invocation) {
    return comparison.candidate->invocations.size() < 2 ? Obstacle::kSingleCandidate
                                                        : Obstacle::kSingleBaseline;
  }
  const double p = std::min(comparison.p_slower, comparison.p_faster);
  const bool differs = p <= rule.false_discovery_rate;
  if (comparison.has_moved || (comparison.is_control && differs)) return Obstacle::kMachineMoved;
  if (differs) {
    if (others_may_move(comparison, circumstances)) return Obstacle::kAmongOthers;
    return comparison.lacks_processes() ? lacking(comparison, circumstances)
                                        : Obstacle::kNotConfirmed;
  }
  if (comparison.modes) {
    return may_take_slower_mode(*comparison.modes) ? Obstacle::kSlowerMode : Obstacle::kTwoModes;
  }
  if (comparison.p_by_itself <= rule.false_discovery_rate) {
    return comparison.common->is_of_few ? Obstacle::kMachineUnknown : Obstacle::kSuiteMoved;
  }
  const double direction = direction_of(interval, rule);
  if (time_is_told(comparison, circumstances)) {
    if (const auto slower = slower_by_the_clock(comparison, rule)) {
      return *slower ? Obstacle::kClockSaysSlower : Obstacle::kClockSaysFaster;
    }
  }
  if (comparison.decided_by(circumstances) == Quantity::kEqualClock) {
    const bool shows = both_show(comparison.time, *comparison.cycles, direction, rule);
    if (direction != 0 && !shows) return Obstacle::kDisagreement;
  }
  if (direction != 0) {
    return moved(comparison, direction) > 0 ? Obstacle::kControlsMoved : Obstacle::kNotCertain;
  }
  return circumstances.other_card ? Obstacle::kCardsDiffer : Obstacle::kTooWide;
}

bool machine_hides(const Comparison& comparison, const Circumstances& circumstances,
                   Obstacle obstacle, const Rule& rule) {
  const bool is_of_machine = obstacle == Obstacle::kTooWide || obstacle == Obstacle::kCardsDiffer ||
                             obstacle == Obstacle::kMachineUnknown ||
                             obstacle == Obstacle::kSuiteMoved;
  Contrast noise = comparison.stated(circumstances);
  const ScaledT machine = std::exchange(noise.scatter, {});
  const double tail = (1 - rule.confidence) / 2;
  const double reach = upper_quantile(machine, tail);
  return is_of_machine && reach > std::log1p(rule.min_effect) && reach > error_quantile(noise, tail);
}

std::vector<ChoiceChange> choice_changes(const BenchmarkSeries& baseline,
                                         const BenchmarkSeries& candidate) {
  std::vector<ChoiceChange> changes;
  for (const auto& [name, choice] : candidate.choices) {
    const auto before = baseline.choices.find(name);
    if (before == baseline.choices.end() || choice_name(before->second) == choice_name(choice)) {
      continue;
    }
    changes.push_back({name, before->second, choice});
  }
  return changes;
}

// Nobody's change slowed equal work. A machine that moved may hide a slowdown by as much, and a
// clock that moved one in time.
double ruled_out(const Comparison& comparison, const Circumstances& circumstances, const Rule& rule,
                 bool clock_moved) {
  if (comparison.is_identical) return 0;
  if (!comparison.has_estimate() || comparison.has_single_invocation) return kNan;
  double bound = upper_bound(comparison.stated(circumstances), rule.false_discovery_rate) -
                 std::min(0.0, common_shift(comparison));
  // Processes that took the lower mode may all take the upper one.
  if (comparison.has_comparable_modes()) {
    bound += gap_between_modes(comparison, circumstances, comparison.modes_share);
  }
  if (clock_moved) bound = std::max(bound, upper_bound(comparison.time, rule.false_discovery_rate));
  return std::max(0.0, std::expm1(bound + comparison.controls_moved.faster));
}

void describe_energy(const Comparison& comparison, Verdict& verdict) {
  const std::string counter(kEnergyPerCall);
  const auto before = comparison.baseline->counters.find(counter);
  const auto after = comparison.candidate->counters.find(counter);
  const bool known = before != comparison.baseline->counters.end() &&
                     after != comparison.candidate->counters.end();
  if (!known) return;
  verdict.baseline_energy_j = before->second;
  verdict.candidate_energy_j = after->second;
}

// The effects as estimated, whatever is made of them.
void describe_effects(const Comparison& comparison, const Circumstances& circumstances,
                      Verdict& verdict) {
  verdict.decided_by = comparison.decided_by(circumstances);
  verdict.effect = std::expm1(comparison.stated(circumstances).effect);
  verdict.effect_time = std::expm1(comparison.time.effect);
  if (comparison.cycles) {
    verdict.effect_equal_clock = std::expm1(comparison.equal_clock->effect);
    verdict.effect_cycles = std::expm1(comparison.cycles->effect);
    verdict.clock_share = comparison.clock_share;
  }
  if (comparison.machine_shift) verdict.machine_effect = std::expm1(*comparison.machine_shift);
  verdict.controls_moved = std::expm1(moved(comparison, verdict.effect));
}

void decide(const Comparison& comparison, const Circumstances& circumstances, const Rule& rule,
            DetectableEffects& detectable, Verdict& verdict) {
  describe_effects(comparison, circumstances, verdict);
  describe_energy(comparison, verdict);
  verdict.confirming_invocations = comparison.of_candidate.fresh;
  verdict.compared_in_baseline = comparison.of_baseline.all;
  verdict.compared_in_candidate = comparison.of_candidate.all;
  verdict.modes = comparison.modes;
  verdict.suite_moved = std::expm1(common_shift(comparison));
  verdict.is_control = comparison.is_control;
  verdict.machine_moved = comparison.has_moved;
  if (comparison.is_identical) verdict.kind = VerdictKind::kIdentical;
  if (comparison.has_estimate()) {
    const Contrast& stated = comparison.stated(circumstances);
    const Interval interval = interval_of(comparison, circumstances, rule);
    verdict.kind = kind_of(comparison, circumstances, interval, rule);
    verdict.interval = {std::expm1(interval.low), std::expm1(interval.high)};
    verdict.p = stated.effect < 0 ? comparison.p_faster : comparison.p_slower;
    if (!comparison.is_identical) verdict.smallest_detectable = detectable(comparison);
  }
  if (verdict.kind == VerdictKind::kInconclusive) {
    verdict.clock_moved = comparison.has_estimate() && clock_moved(comparison, circumstances, rule);
    verdict.obstacle = obstacle_of(comparison, circumstances, verdict.interval, rule);
    verdict.machine_hides_it = comparison.has_estimate() &&
                               machine_hides(comparison, circumstances, verdict.obstacle, rule);
  } else if (verdict.kind == VerdictKind::kRegression) {
    verdict.slower_mode = takes_slower_mode(comparison, circumstances, rule);
    verdict.clock_moved =
        verdict.decided_by == Quantity::kTime && slower_by_the_clock(comparison, rule).has_value();
  }
  verdict.ruled_out = ruled_out(comparison, circumstances, rule, verdict.clock_moved);
  verdict.choice_changes = choice_changes(*comparison.baseline, *comparison.candidate);
}

// Of runs whose odd processes are set aside.
std::vector<Verdict> judge_alike(const Run& baseline, const Run& candidate, const Rule& rule) {
  std::map<std::string_view, std::pair<const BenchmarkSeries*, const BenchmarkSeries*>> pairs;
  for (const BenchmarkSeries& series : baseline.benchmarks) pairs[series.name].first = &series;
  for (const BenchmarkSeries& series : candidate.benchmarks) pairs[series.name].second = &series;

  std::vector<Verdict> verdicts;
  std::vector<Comparison> suite;
  std::vector<std::size_t> compared;  // the suite's places among the verdicts
  for (const auto& [name, pair] : pairs) {
    verdicts.push_back(described(pair.first, pair.second));
    Verdict& verdict = verdicts.back();
    describe_uncompared(pair.first, pair.second, verdict);
    if (verdict.kind != VerdictKind::kInconclusive) continue;
    compared.push_back(verdicts.size() - 1);
    suite.push_back({.baseline = pair.first, .candidate = pair.second});
  }
  const Circumstances circumstances = circumstances_of(baseline, candidate);
  compare_suite(suite, circumstances, rule);
  const auto tested = std::ranges::count_if(
      suite, [](const Comparison& comparison) { return !comparison.is_unchangeable(); });
  DetectableEffects detectable(static_cast<std::size_t>(tested), circumstances, rule);
  for (std::size_t i = 0; i < suite.size(); ++i) {
    decide(suite[i], circumstances, rule, detectable, verdicts[compared[i]]);
  }
  return verdicts;
}

// A copy only where there is something to leave out: most runs have no such process.
const Run& alike(const Run& run, const Rule& rule, std::optional<Run>& copy) {
  const auto odd = odd_processes(run, rule.min_effect);
  if (std::ranges::none_of(odd, &OddProcess::is_set_aside)) return run;
  return copy.emplace(without_odd_processes(run, odd));
}

}  // namespace

std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule) {
  check(rule);
  std::optional<Run> baseline_copy;
  std::optional<Run> candidate_copy;
  return judge_alike(alike(baseline, rule, baseline_copy), alike(candidate, rule, candidate_copy),
                     rule);
}

}  // namespace fusegate::baselines
