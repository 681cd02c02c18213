#include "baselines/gating/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "baselines/comparing/judge.h"
#include "baselines/io/instant.h"
#include "baselines/io/pattern.h"

namespace fusegate::baselines {
namespace {

bool has(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return std::ranges::find(verdicts, kind, &Verdict::kind) != verdicts.end();
}

// Of those that are asked for, whose data allow a slowdown beyond their limit: the largest first,
// then those of which nothing can be said.
template <typename IsAsked, typename Limit>
std::vector<const Verdict*> beyond(const std::vector<Verdict>& verdicts, IsAsked is_asked,
                                   Limit limit) {
  std::vector<const Verdict*> found;
  for (const Verdict& verdict : verdicts) {
    if (is_asked(verdict) && !(verdict.estimates.ruled_out <= limit(verdict))) {
      found.push_back(&verdict);
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const Verdict* verdict) {
    return std::isnan(verdict->estimates.ruled_out) ? -1 : verdict->estimates.ruled_out;
  });
  return found;
}

// Where a side has a single process, no slowdown whatever would have given another answer.
bool could_be_judged(const Verdict& verdict) {
  if (verdict.kind == VerdictKind::kIdentical) return true;
  return std::isfinite(verdict.estimates.interval.low) && verdict.baseline.processes > 1 &&
         verdict.candidate.processes > 1;
}

ExitCode exit_code_of(GateCause cause) {
  using enum GateCause;
  if (cause == kNoRegression) return ExitCode::kNoRegression;
  const auto regressions = {kSlower,       kOtherLaunches, kMoreMemory,
                            kOtherKernels, kHostSlower,    kCrept};
  return std::ranges::find(regressions, cause) != regressions.end() ? ExitCode::kRegression
                                                                    : ExitCode::kCouldNotJudge;
}

void conclude(GateCause cause, GateResult& result) {
  result.exit_code = exit_code_of(cause);
  result.causes.push_back(cause);
}

GateCause cause_of(const GateResult& result, const GateOptions& options) {
  const std::vector<Verdict>& verdicts = result.verdicts;
  const auto undecided = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kInconclusive || verdict.kind == VerdictKind::kMissing;
  };
  if (std::ranges::any_of(verdicts, is_slower)) return GateCause::kSlower;
  if (has(verdicts, VerdictKind::kInvalid)) return GateCause::kInvalid;
  if (verdicts.empty()) return GateCause::kNoBenchmark;
  if (std::ranges::none_of(verdicts, could_be_judged)) return GateCause::kNoProcesses;
  if (std::ranges::any_of(verdicts, looks_slower)) return GateCause::kUnconfirmed;
  if (options.strict) {
    if (std::ranges::any_of(verdicts, undecided)) return GateCause::kUndecided;
    if (!result.left_out.empty()) return GateCause::kLeftOut;
  }
  if (!not_ruled_out(verdicts, options.allow).empty()) return GateCause::kNotRuledOut;
  return GateCause::kNoRegression;
}

// Asked for: a library that picks another kernel is to be examined though time has not changed.
void fold_kernels(const Run& baseline, const Run& candidate, GateResult& result) {
  if (result.exit_code == ExitCode::kRegression) return;
  if (std::ranges::any_of(result.kernel_diffs, &KernelDiff::launches_changed)) {
    return conclude(GateCause::kOtherKernels, result);
  }
  const auto has_profile = [](const BenchmarkSeries& series) { return series.profile.has_value(); };
  const bool known = std::ranges::any_of(baseline.benchmarks, has_profile) &&
                     std::ranges::any_of(candidate.benchmarks, has_profile);
  if (!known && result.exit_code == ExitCode::kNoRegression) {
    conclude(GateCause::kKernelsUnknown, result);
  }
}

void add_left_out(const Run& run, std::string_view side, std::vector<LeftOut>& left_out) {
  for (const auto& [name, why] : run.left_out) left_out.push_back({side, name, why});
  const auto& [files, count, cut] = run.unfinished;
  for (const std::string& file : cut) left_out.push_back({side, file, "it ends in the middle"});
  if (count) return;
  for (const std::string& file : files) left_out.push_back({side, file, "it did not finish"});
}

// Why the run lacks the benchmark, where its files say so.
std::string why_absent(const Run& run, std::string_view side, const std::string& benchmark) {
  const auto skipped = run.skipped.find(benchmark);
  if (skipped != run.skipped.end())
    return fmt::format("the {} skipped it: {}", side, skipped->second);
  const auto left_out = run.left_out.find(benchmark);
  if (left_out == run.left_out.end()) return "";
  return fmt::format("not in the {}: {}", side, left_out->second);
}

void explain_absent(const Run& baseline, const Run& candidate, std::vector<Verdict>& verdicts) {
  for (Verdict& verdict : verdicts) {
    if (verdict.kind == VerdictKind::kMissing) {
      verdict.reason.failure = why_absent(candidate, "candidate", verdict.benchmark);
    } else if (verdict.kind == VerdictKind::kNew) {
      verdict.reason.failure = why_absent(baseline, "baseline", verdict.benchmark);
    }
  }
}

// When it was measured, so that it is judged alike on any day; now, where it does not say.
std::chrono::sys_seconds time_of(const Run& run) {
  using std::chrono::system_clock;
  return parse_instant(run.provenance.date)
      .value_or(std::chrono::time_point_cast<std::chrono::seconds>(system_clock::now()));
}

// A copy only where there is something to leave out.
const Run& without_set_aside(const Run& run, const std::vector<Outlier>& odd, Run& copy) {
  if (std::ranges::none_of(odd, &Outlier::is_set_aside)) return run;
  return copy = without_outliers(run, odd);
}

HostTimes host_times_of(const Run& baseline, const Run& candidate, const Rule& rule,
                        const GateResult& result) {
  Run baseline_copy;
  Run candidate_copy;
  return compare_host_times(
      without_set_aside(baseline, result.outliers_in_baseline, baseline_copy),
      without_set_aside(candidate, result.outliers_in_candidate, candidate_copy), rule);
}

// Asked for. What another host does fails nobody.
void fold_host(GateResult& result) {
  const HostTimes& host = result.host;
  const auto has_verdict = [&host](HostVerdict verdict) {
    return std::ranges::find(host.changes, verdict, &HostChange::verdict) != host.changes.end();
  };
  if (has_verdict(HostVerdict::kSlower)) {
    conclude(GateCause::kHostSlower, result);
  } else if (result.exit_code == ExitCode::kNoRegression && host.compared == 0) {
    conclude(GateCause::kHostUnknown, result);
  } else if (result.exit_code == ExitCode::kNoRegression && !host.other_host &&
             has_verdict(HostVerdict::kLooksSlower)) {
    conclude(GateCause::kHostUnconfirmed, result);
  }
}

// Where a benchmark is certainly slower than the anchor by more than the limit, unless there is a
// regression against the baseline already.
void fold_creep(const Creep& creep, double max_creep, GateResult& result) {
  if (result.exit_code == ExitCode::kRegression) return;
  const auto beyond = [&](const Verdict& verdict) { return is_beyond(verdict, max_creep); };
  if (std::ranges::any_of(creep.slower, beyond)) conclude(GateCause::kCrept, result);
}

std::size_t benchmarks_of(const Run& baseline, const Run& candidate) {
  std::set<std::string_view> names;
  for (const Run* run : {&baseline, &candidate}) {
    for (const BenchmarkSeries& series : run->benchmarks) names.insert(series.name);
  }
  return names.size();
}

// What of it is judged. A copy only where something is not.
const Run& part_of(const Run& run, const std::string& filter, Run& copy) {
  if (filter.empty()) return run;
  const Pattern pattern(filter);
  copy = run;
  std::erase_if(copy.benchmarks, [&](const auto& series) { return !pattern.fits(series.name); });
  for (auto* names : {&copy.skipped, &copy.left_out}) {
    std::erase_if(*names, [&](const auto& one) { return !pattern.fits(one.first); });
  }
  return copy;
}

// The verdicts, and what else of the runs they are of, into an exit code.
void fold(const Run& baseline, const Run& candidate, const GateOptions& options,
          GateResult& result) {
  result.accepted = apply_accepted(options.accepted, time_of(candidate), result.verdicts);
  explain_absent(baseline, candidate, result.verdicts);
  add_left_out(baseline, "baseline", result.left_out);
  add_left_out(candidate, "candidate", result.left_out);
  result.host = host_times_of(baseline, candidate, options.rule, result);
  conclude(cause_of(result, options), result);
  if (result.exit_code == ExitCode::kNoRegression && !result.accepted.expired.empty()) {
    conclude(GateCause::kAcceptanceExpired, result);
  }
  if (options.require_ruled_out && result.exit_code == ExitCode::kNoRegression &&
      !too_little_ruled_out(result.verdicts, *options.require_ruled_out).empty()) {
    conclude(GateCause::kTooLittleRuledOut, result);
  }
  // Independent of its time: what it launches is certain in a single call.
  result.unmet_expectations = unmet_expectations(candidate);
  if (!result.unmet_expectations.empty()) conclude(GateCause::kOtherLaunches, result);
  result.memory_growth =
      memory_growth(baseline, candidate, result.verdicts,
                    [&](const Verdict& verdict) { return allowed(verdict, options.allow); });
  if (!result.memory_growth.empty()) conclude(GateCause::kMoreMemory, result);
  result.families = families_of(result.verdicts);
  result.kernel_diffs = explain_all(baseline, candidate, result.verdicts, options.rule);
  if (options.fail_on_changed_kernels) fold_kernels(baseline, candidate, result);
  if (options.fail_on_host) fold_host(result);
}

}  // namespace

bool is_slower(const Verdict& verdict) {
  return verdict.kind == VerdictKind::kRegression && !verdict.is_accepted();
}

bool is_decided(const Verdict& verdict) {
  return verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement ||
         verdict.kind == VerdictKind::kUnchanged || verdict.kind == VerdictKind::kIdentical;
}

bool can_be_slower(const Verdict& verdict) {
  return verdict.kind != VerdictKind::kIdentical && verdict.kind != VerdictKind::kNew &&
         !verdict.is_control;
}

bool is_mostly_undecided(const std::vector<Verdict>& verdicts) {
  int decided = 0;
  int undecided = 0;
  for (const Verdict& verdict : verdicts) {
    if (can_be_slower(verdict)) ++(is_decided(verdict) ? decided : undecided);
  }
  return decided < undecided;
}

std::vector<const Verdict*> too_little_ruled_out(const std::vector<Verdict>& verdicts,
                                                 double limit) {
  const auto is_asked = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kInconclusive ||
           (is_decided(verdict) && verdict.kind != VerdictKind::kRegression);
  };
  return beyond(verdicts, is_asked, [limit](const Verdict&) { return limit; });
}

double allowed(const Verdict& verdict, double allow) {
  const BenchmarkSettings& own = verdict.settings;
  const double accepted = verdict.is_accepted() ? verdict.accepted->effect.high : 0;
  return std::max({own.allow.value_or(allow), own.min_effect.value_or(0), accepted});
}

std::vector<const Verdict*> not_ruled_out(const std::vector<Verdict>& verdicts, double allow) {
  const auto is_asked = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kInconclusive && can_be_slower(verdict);
  };
  return beyond(verdicts, is_asked,
                [allow](const Verdict& verdict) { return allowed(verdict, allow); });
}

std::vector<UnmetExpectation> unmet_expectations(const Run& run) {
  std::vector<UnmetExpectation> unmet;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (!series.expectation || series.expectation->met()) continue;
    unmet.push_back({series.name, *series.expectation});
  }
  return unmet;
}

GateResult gate(const Run& baseline, const Run& candidate, const GateOptions& options) {
  GateResult result;
  result.environment_differences = differences_between(baseline, candidate);
  if (!result.environment_differences.empty() && !options.allow_environment_differences) {
    conclude(GateCause::kEnvironmentDiffers, result);
    return result;
  }
  result.verdicts = judge(baseline, candidate, options.rule, options.settings, options.filter);
  result.benchmarks = benchmarks_of(baseline, candidate);
  result.outliers_in_baseline = outlier_processes(baseline, options.rule.min_effect);
  result.outliers_in_candidate = outlier_processes(candidate, options.rule.min_effect);
  Run baseline_copy, candidate_copy;
  fold(part_of(baseline, options.filter, baseline_copy),
       part_of(candidate, options.filter, candidate_copy), options, result);
  return result;
}

GateResult gate(const LoadedBaseline& baseline, const Run& candidate, const GateOptions& options) {
  GateResult result = gate(baseline.run, candidate, options);
  if (baseline.acceptance) {
    Run baseline_copy, candidate_copy;
    result.staleness =
        staleness_of(*baseline.acceptance, part_of(baseline.run, options.filter, baseline_copy),
                     part_of(candidate, options.filter, candidate_copy), options.max_age_days);
  }
  // Where nothing was judged, there is nothing yet that the anchor could add to.
  if (baseline.anchor && !result.verdicts.empty()) {
    result.creep = creep_since(*baseline.anchor, candidate, result.verdicts, options.rule,
                               options.settings, options.filter);
    if (options.max_creep) fold_creep(*result.creep, *options.max_creep, result);
  }
  return result;
}

}  // namespace fusegate::baselines
