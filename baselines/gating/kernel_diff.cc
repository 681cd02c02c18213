#include "baselines/gating/kernel_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/statistics/statistics.h"
#include "baselines/statistics/two_sides.h"

namespace fusegate::baselines {
namespace {

// 1: slower, -1: faster, 0: no change that was called.
double direction_of(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::kRegression) return 1;
  return verdict.kind == VerdictKind::kImprovement ? -1 : 0;
}

// Whether the sides' means differ by more than least_ns, at that level, either way. Moderating the
// variance over the suite is not worth it here: what the host does is seen in microseconds.
bool moved(const std::vector<double>& before, const std::vector<double>& after, double least_ns,
           double level) {
  if (before.size() < 2 || after.size() < 2) return false;
  const auto [effect, noise, share] =
      difference_of({.baseline = {.values = before}, .candidate = {.values = after}});
  const Contrast contrast{std::abs(effect), std::sqrt(noise.variance * share),
                          noise.degrees_of_freedom};
  return p_above(contrast, least_ns) <= level / 2;
}

void compare_profiles(const KernelProfile& before, const KernelProfile& after, double least_ns,
                      double level, KernelDiff& diff) {
  diff.has_profiles = true;
  diff.pairs = pair_kernels(before.kernels, after.kernels);
  diff.gaps_ns = {median(before.gaps_ns), median(after.gaps_ns)};
  diff.leads_ns = {median(before.leads_ns), median(after.leads_ns)};
  diff.gaps_moved = moved(before.gaps_ns, after.gaps_ns, least_ns, level);
  diff.leads_moved = moved(before.leads_ns, after.leads_ns, least_ns, level);
  diff.memory_ns = {before.memory_ns, after.memory_ns};
  diff.memory_operations = {static_cast<double>(before.memory_operations),
                            static_cast<double>(after.memory_operations)};
}

template <typename Wanted>
double change_of(const KernelDiff& diff, Wanted wanted) {
  double sum = 0;
  for (const KernelPair& pair : diff.pairs) sum += wanted(pair) ? pair.change_ns() : 0;
  return sum;
}

bool is_another_launch(const KernelPair& pair) { return pair.is_alone() && !pair.is_part_of_other; }
bool is_another_kernel(const KernelPair& pair) { return pair.is_other() || pair.is_part_of_other; }
bool is_same(const KernelPair& pair) { return !pair.is_alone() && !pair.is_other(); }

// The one that accounts for most of a change of time. kUnexplained where all of them together do
// not go its way by half of it at least: then the profiled call did something else than the
// samples, and the largest of its small changes is noise.
KernelCause largest_part(const KernelDiff& diff, const Verdict& verdict) {
  const double direction = direction_of(verdict);
  const double gaps = diff.gaps_moved ? diff.gaps_ns.change() : 0;
  const std::array<std::pair<KernelCause, double>, 4> parts{
      {{KernelCause::kLaunches, change_of(diff, is_another_launch) + diff.memory_ns.change()},
       {KernelCause::kOtherKernel, change_of(diff, is_another_kernel)},
       {KernelCause::kGaps, gaps},
       {KernelCause::kSameKernels, change_of(diff, is_same)}}};
  double sum = 0;
  for (const auto& [kind, change] : parts) sum += change;
  if (direction * sum < std::abs(verdict.estimates.effect) * verdict.baseline.time_ns / 2) {
    return KernelCause::kUnexplained;
  }
  const auto way = [&](const auto& part) { return direction * part.second; };
  return std::ranges::max_element(parts, {}, way)->first;
}

// A profile has names: the same code may have another.
KernelCause changed_launches(const KernelDiff& diff) {
  if (diff.verdict == VerdictKind::kIdentical) return KernelCause::kNothing;
  if (std::ranges::any_of(diff.pairs, is_another_launch) || diff.memory_operations.change() != 0) {
    return KernelCause::kLaunches;
  }
  return std::ranges::any_of(diff.pairs, is_another_kernel) ? KernelCause::kOtherKernel
                                                            : KernelCause::kNothing;
}

KernelCause kind_of(const KernelDiff& diff, const Verdict& verdict, bool other_card) {
  const double direction = direction_of(verdict);
  if (!diff.has_profiles) {
    if (verdict.reason.clock_moved) return KernelCause::kClock;
    if (direction == 0) return KernelCause::kNothing;
    return diff.work_changed() ? KernelCause::kOtherWork : KernelCause::kNoProfile;
  }
  const KernelCause changed = changed_launches(diff);
  if (direction != 0) {
    const KernelCause largest = largest_part(diff, verdict);
    if (largest != KernelCause::kUnexplained) return largest;
  }
  if (changed != KernelCause::kNothing) return changed;
  if (verdict.reason.clock_moved) return KernelCause::kClock;
  if (direction != 0) {
    return diff.work_changed() ? KernelCause::kOtherWork : KernelCause::kUnexplained;
  }
  const bool host = diff.gaps_moved || diff.leads_moved || diff.host_moved;
  if (host && !other_card) return KernelCause::kGaps;
  return looks_slower(verdict) && diff.work_changed() ? KernelCause::kOtherWork
                                                      : KernelCause::kNothing;
}

std::string why_unknown(const BenchmarkSeries& series, std::string_view side) {
  if (!series.identity) return fmt::format("the {} has no code hashes", side);
  return series.identity->unknown;
}

void compare_work(const BenchmarkSeries& before, const BenchmarkSeries& after, KernelDiff& diff) {
  diff.work_unknown = why_unknown(before, "baseline");
  if (diff.work_unknown.empty()) diff.work_unknown = why_unknown(after, "candidate");
  if (!diff.work_unknown.empty()) return;
  diff.work_changes =
      launch_changes(*before.identity, *after.identity, before.profile, after.profile);
  // Of more or fewer launches it is another one anyway.
  diff.order_changed = before.identity->launches.size() == after.identity->launches.size() &&
                       before.identity->order != after.identity->order;
}

bool doubled_or_halved(const BeforeAfter& time_ns) {
  constexpr double kTimes = 2;
  return time_ns.after >= kTimes * time_ns.before || time_ns.before >= kTimes * time_ns.after;
}

double counter(const BenchmarkSeries& series, const std::string& name) {
  const auto found = series.counters.find(name);
  return found == series.counters.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

}  // namespace

std::string_view cause_name(KernelCause kind) {
  static constexpr std::array<std::pair<KernelCause, std::string_view>, 9> kNames{
      {{KernelCause::kNothing, "nothing"},
       {KernelCause::kLaunches, "launches"},
       {KernelCause::kOtherKernel, "other_kernel"},
       {KernelCause::kGaps, "gaps"},
       {KernelCause::kSameKernels, "same_kernels"},
       {KernelCause::kClock, "clock"},
       {KernelCause::kOtherWork, "other_work"},
       {KernelCause::kUnexplained, "unexplained"},
       {KernelCause::kNoProfile, "no_profile"}}};
  return std::ranges::find(kNames, kind, &std::pair<KernelCause, std::string_view>::first)->second;
}

bool KernelDiff::launches_changed() const {
  return changed_launches(*this) != KernelCause::kNothing;
}

KernelDiff explain(const BenchmarkSeries* baseline, const BenchmarkSeries* candidate,
                   const Verdict& verdict, const ExplainOptions& options) {
  KernelDiff diff;
  diff.benchmark = verdict.benchmark;
  if (!baseline || !candidate) return diff;
  if (baseline->profile && candidate->profile) {
    const double least_ns =
        limits_of(options.rule, verdict.settings).min_effect * verdict.baseline.time_ns;
    const double level =
        options.rule.false_discovery_rate / static_cast<double>(options.suite_size);
    compare_profiles(*baseline->profile, *candidate->profile, least_ns, level, diff);
  }
  compare_work(*baseline, *candidate, diff);
  diff.host_ns = {counter(*baseline, "host_ns"), counter(*candidate, "host_ns")};
  diff.host_moved = verdict.baseline.processes > 1 && verdict.candidate.processes > 1 &&
                    doubled_or_halved(diff.host_ns);
  diff.verdict = verdict.kind;
  diff.kind = kind_of(diff, verdict, options.other_card);
  diff.estimates = verdict.estimates;
  diff.time_ns = {verdict.baseline.time_ns, verdict.candidate.time_ns};
  return diff;
}

std::vector<KernelDiff> explain_all(const Run& baseline, const Run& candidate,
                                    const std::vector<Verdict>& verdicts, const Rule& rule) {
  std::map<std::string_view, std::pair<const BenchmarkSeries*, const BenchmarkSeries*>> sides;
  for (const BenchmarkSeries& series : baseline.benchmarks) sides[series.name].first = &series;
  for (const BenchmarkSeries& series : candidate.benchmarks) sides[series.name].second = &series;
  const ExplainOptions options{.rule = rule,
                               .suite_size = verdicts.size(),
                               .other_card = circumstances_of(baseline, candidate).other_card};
  std::vector<KernelDiff> diffs;
  for (const Verdict& verdict : verdicts) {
    const auto& [before, after] = sides[verdict.benchmark];
    KernelDiff diff = explain(before, after, verdict, options);
    const bool is_explained =
        diff.kind != KernelCause::kNothing && diff.kind != KernelCause::kNoProfile;
    if (is_explained) diffs.push_back(std::move(diff));
  }
  return diffs;
}

}  // namespace fusegate::baselines
