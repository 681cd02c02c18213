#include "baselines/comparing/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "baselines/comparing/compare_suite.h"
#include "baselines/comparing/comparison.h"
#include "baselines/comparing/decision.h"
#include "baselines/comparing/modes.h"
#include "baselines/comparing/outlier_processes.h"
#include "baselines/io/error.h"
#include "baselines/io/pattern.h"
#include "baselines/launches/choice.h"

namespace fusegate::baselines {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPower = 0.9;

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
  if (series.processes.empty()) return kNan;
  double sum = 0;
  for (const ProcessSummary& summary : series.processes) sum += std::log(summary.time_ns);
  return std::exp(sum / static_cast<double>(series.processes.size()));
}

VerdictSide described(const BenchmarkSeries* series) {
  return {.time_ns = series ? geometric_mean_ns(*series) : kNan,
          .energy_j = kNan,
          .processes = series ? static_cast<int>(series->processes.size()) : 0};
}

// All that does not need statistics; a series is null where its run lacks the benchmark.
Verdict described(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate) {
  Verdict verdict;
  verdict.benchmark = baseline ? baseline->name : candidate->name;
  verdict.estimates = {.effect = kNan,
                       .interval = {kNan, kNan},
                       .in_time = kNan,
                       .at_equal_clock = kNan,
                       .in_cycles = kNan,
                       .clock_share = kNan,
                       .machine = kNan,
                       .ruled_out = kNan,
                       .smallest_detectable = kNan};
  verdict.baseline = described(baseline);
  verdict.candidate = described(candidate);
  for (const BenchmarkSeries* series : {baseline, candidate}) {
    if (series) add_warnings(verdict.warnings, series->warnings);
  }
  return verdict;
}

bool failed(const BenchmarkSeries* series) {
  return series && (!series->failure.empty() || series->processes.empty());
}

// Identical code of which a side was not timed: it need not be.
bool identical_untimed(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate) {
  return baseline && candidate && baseline->failure.empty() && candidate->failure.empty() &&
         (baseline->processes.empty() || candidate->processes.empty()) &&
         identical_code(*baseline, *candidate);
}

// Why the candidate's run left it out and so did not measure it; null where it was measured.
const std::string* why_unmeasured(const BenchmarkSeries& series, const Run& run) {
  const auto found = run.left_out.find(series.name);
  return series.is_unmeasured() && found != run.left_out.end() ? &found->second : nullptr;
}

// Of a benchmark that cannot or need not be compared; without an obstacle kInconclusive where it
// can.
void describe_uncompared(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate,
                         const Run& candidate_run, Verdict& verdict) {
  if (identical_untimed(baseline, candidate)) {
    verdict.kind = VerdictKind::kIdentical;
    verdict.estimates.ruled_out = 0;
    return;
  }
  Reason& reason = verdict.reason;
  const std::string* const why = candidate ? why_unmeasured(*candidate, candidate_run) : nullptr;
  const bool baseline_failed = baseline && !baseline->failure.empty();
  if (why != nullptr && !baseline_failed) {
    verdict.kind = baseline ? VerdictKind::kInconclusive : VerdictKind::kNew;
    reason.obstacle = Obstacle::kNotMeasured;
    reason.failure = *why;
    return;
  }
  reason.failed_in_candidate = failed(candidate);
  if (failed(baseline) || failed(candidate)) {
    verdict.kind = VerdictKind::kInvalid;
    reason.failure = reason.failed_in_candidate ? candidate->failure : baseline->failure;
  } else if (!baseline || !candidate) {
    verdict.kind = baseline ? VerdictKind::kMissing : VerdictKind::kNew;
  }
}

// What its kind shares, where nothing shows whether the machine or the code did that.
double common_shift(const Comparison& comparison) {
  return comparison.common ? comparison.common->shift : 0;
}

// Of the code's effect: some part of what its kind shares may be the machine's.
Interval interval_of(const Comparison& comparison, const Rule& rule) {
  Interval interval = confidence_interval(comparison.stated(), rule.confidence);
  interval.low -= std::max(0.0, common_shift(comparison));
  interval.high -= std::min(0.0, common_shift(comparison));
  return interval;
}

// Solving for the noncentrality costs more than all else of a verdict, and the benchmarks of a
// suite have nearly the same degrees of freedom.
class DetectableEffects {
 public:
  DetectableEffects(std::size_t suite_size, const Rule& rule) {
    const double size = std::max(1.0, static_cast<double>(suite_size));
    level_ = rule.false_discovery_rate * std::max(1.0, std::ceil(size / 10)) / size;
  }

  double operator()(const Comparison& comparison) {
    const Contrast& stated = comparison.stated();
    const double errors = stated.scatter.scale > 0
                              ? error_quantile(stated, level_) + error_quantile(stated, 1 - kPower)
                              : in_errors(stated) * stated.standard_error;
    return std::expm1(std::log1p(comparison.limits.tested_effect) +
                      std::abs(common_shift(comparison)) + errors);
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

  double level_ = 0;
  std::map<double, double> known_;  // by rounded degrees of freedom
};

bool machine_hides(const Evidence& evidence, Obstacle obstacle) {
  const bool is_of_machine = obstacle == Obstacle::kTooWide || obstacle == Obstacle::kCardsDiffer ||
                             obstacle == Obstacle::kMachineUnknown ||
                             obstacle == Obstacle::kSuiteMoved;
  Contrast noise = evidence.comparison.stated();
  const ScaledT machine = std::exchange(noise.scatter, {});
  const double tail = (1 - evidence.rule.confidence) / 2;
  const double reach = upper_quantile(machine, tail);
  return is_of_machine && reach > std::log1p(evidence.comparison.limits.min_effect) &&
         reach > error_quantile(noise, tail);
}

// No change slowed identical code. A machine that moved may hide a slowdown by as much, and a clock
// that moved one in time.
double ruled_out(const Evidence& evidence, bool clock_moved) {
  const auto& [comparison, circumstances, rule, logarithms, interval] = evidence;
  if (comparison.is_identical) return 0;
  if (!comparison.has_estimate() || comparison.has_single_process) return kNan;
  double bound = upper_bound(comparison.stated(), rule.false_discovery_rate) -
                 std::min(0.0, common_shift(comparison));
  // Processes that took the lower cluster may all take the upper one.
  if (comparison.has_comparable_modes()) {
    bound += gap_between_modes(comparison, circumstances, comparison.share_of(comparison.decides));
  }
  if (clock_moved) bound = std::max(bound, upper_bound(comparison.time, rule.false_discovery_rate));
  return std::max(0.0, std::expm1(bound + comparison.controls_moved.faster));
}

void describe_energy(const Comparison& comparison, Verdict& verdict) {
  const std::string counter(kEnergyPerCall);
  const double before = counter_of(*comparison.baseline, counter);
  const double after = counter_of(*comparison.candidate, counter);
  if (std::isnan(before) || std::isnan(after)) return;
  verdict.baseline.energy_j = before;
  verdict.candidate.energy_j = after;
}

// The effects as estimated, whatever is made of them.
void estimate(const Evidence& evidence, DetectableEffects& detectable, Estimates& estimates) {
  const Comparison& comparison = evidence.comparison;
  const Contrast& stated = comparison.stated();
  estimates.effect = std::expm1(stated.effect);
  estimates.interval = evidence.interval;
  estimates.in_time = std::expm1(comparison.time.effect);
  if (comparison.cycles) {
    estimates.at_equal_clock = std::expm1(comparison.equal_clock->effect);
    estimates.in_cycles = std::expm1(comparison.cycles->effect);
    estimates.clock_share = comparison.clock_share;
  }
  if (comparison.machine) estimates.machine = std::expm1(comparison.machine->shift);
  estimates.common = std::expm1(common_shift(comparison));
  estimates.controls = std::expm1(comparison.controls_moved.in_direction(estimates.effect));
  if (!comparison.has_estimate()) return;
  estimates.p = stated.effect < 0 ? comparison.p_faster : comparison.p_slower;
  if (!comparison.is_identical) estimates.smallest_detectable = detectable(comparison);
}

void describe_sides(const Comparison& comparison, Verdict& verdict) {
  verdict.is_control = comparison.is_control;
  verdict.baseline.compared = comparison.of_baseline.all;
  verdict.candidate.compared = comparison.of_candidate.all;
  verdict.candidate.confirming = comparison.of_candidate.fresh;
  describe_energy(comparison, verdict);
}

Reason reason_of(const Evidence& evidence, const Decision& decision) {
  const Comparison& comparison = evidence.comparison;
  Reason reason{.obstacle = decision.obstacle,
                .modes = comparison.modes,
                .machine_moved = comparison.has_moved,
                .choice_changes =
                    choice_changes(comparison.baseline->choices, comparison.candidate->choices)};
  if (decision.kind == VerdictKind::kInconclusive && comparison.has_estimate()) {
    reason.clock_moved = clock_moved(evidence);
    reason.machine_hides_it = machine_hides(evidence, decision.obstacle);
  } else if (decision.kind == VerdictKind::kRegression) {
    reason.slower_mode = takes_slower_mode(evidence);
    reason.clock_moved =
        comparison.decides == Quantity::kTime &&
        slower_by_the_clock(comparison, evidence.rule.false_discovery_rate).has_value();
  }
  return reason;
}

Interval as_ratios(const Interval& logarithms) {
  return {std::expm1(logarithms.low), std::expm1(logarithms.high)};
}

void judge_compared(const Comparison& comparison, const Circumstances& circumstances,
                    const Rule& rule, DetectableEffects& detectable, Verdict& verdict) {
  const Interval logarithms =
      comparison.has_estimate() ? interval_of(comparison, rule) : Interval{kNan, kNan};
  const Evidence evidence{comparison, circumstances, rule, logarithms, as_ratios(logarithms)};
  const Decision decision = decide(evidence);
  verdict.kind = decision.kind;
  verdict.decided_by = comparison.cycles ? comparison.decides : Quantity::kTime;
  describe_sides(comparison, verdict);
  estimate(evidence, detectable, verdict.estimates);
  verdict.reason = reason_of(evidence, decision);
  verdict.estimates.ruled_out = ruled_out(evidence, verdict.reason.clock_moved);
}

// Of runs whose outliers are set aside.
std::vector<Verdict> judge_alike(const Run& baseline, const Run& candidate, const Rule& rule,
                                 const Settings& settings, const Pattern& filter) {
  std::map<std::string_view, std::pair<const BenchmarkSeries*, const BenchmarkSeries*>> pairs;
  for (const BenchmarkSeries& series : baseline.benchmarks) pairs[series.name].first = &series;
  for (const BenchmarkSeries& series : candidate.benchmarks) pairs[series.name].second = &series;

  std::vector<Verdict> verdicts;
  std::vector<Comparison> suite;
  std::vector<std::size_t> compared;  // the suite's indices among the verdicts
  for (const auto& [name, pair] : pairs) {
    verdicts.push_back(described(pair.first, pair.second));
    Verdict& verdict = verdicts.back();
    verdict.settings = settings_of(settings, name);
    describe_uncompared(pair.first, pair.second, candidate, verdict);
    const bool is_compared =
        verdict.kind == VerdictKind::kInconclusive && verdict.reason.obstacle == Obstacle::kNone;
    if (!is_compared) continue;
    compared.push_back(verdicts.size() - 1);
    suite.push_back({.baseline = pair.first,
                     .candidate = pair.second,
                     .limits = limits_of(rule, verdict.settings),
                     .is_asked = filter.fits(name)});
  }
  const Circumstances circumstances = circumstances_of(baseline, candidate);
  compare_suite(suite, circumstances, rule);
  const auto tested = std::ranges::count_if(
      suite, [](const Comparison& one) { return one.is_asked && !one.is_unchangeable(); });
  DetectableEffects detectable(static_cast<std::size_t>(tested), rule);
  for (std::size_t i = 0; i < suite.size(); ++i) {
    judge_compared(suite[i], circumstances, rule, detectable, verdicts[compared[i]]);
  }
  std::erase_if(verdicts, [&](const Verdict& one) { return !filter.fits(one.benchmark); });
  return verdicts;
}

// A copy only where there is something to leave out: most runs have no such process.
const Run& alike(const Run& run, const Rule& rule, std::optional<Run>& copy) {
  const auto outliers = outlier_processes(run, rule.min_effect);
  if (std::ranges::none_of(outliers, &Outlier::is_set_aside)) return run;
  return copy.emplace(without_outliers(run, outliers));
}

}  // namespace

std::vector<Verdict> judge(const Run& baseline, const Run& candidate, const Rule& rule,
                           const Settings& settings, const std::string& filter) {
  check(rule);
  std::optional<Run> baseline_copy;
  std::optional<Run> candidate_copy;
  return judge_alike(alike(baseline, rule, baseline_copy), alike(candidate, rule, candidate_copy),
                     rule, settings, Pattern(filter));
}

}  // namespace fusegate::baselines
