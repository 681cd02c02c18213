#include "ci/gate/gate_json.h"

#include <algorithm>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "ci/console/json_number.h"
#include "ci/gate/gate_headline.h"
#include "ci/gate/gate_notes.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/replay_section.h"
#include "ci/gate/verdict_text.h"
#include "ci/sweep/model_section.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {
namespace {

using baselines::Verdict;
using nlohmann::json;

// An array of what `to_json` makes of each.
template <typename T, typename ToJson>
json list_of(const std::vector<T>& all, ToJson to_json) {
  json list = json::array();
  for (const T& one : all) list.push_back(to_json(one));
  return list;
}

// Null where there is none.
json text_json(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json modes_json(const std::optional<baselines::Modes>& modes) {
  if (!modes) return nullptr;
  const auto cluster = [](const baselines::Modes::Cluster& one) -> json {
    return {{"time_ns", json_number(one.time_ns)},
            {"baseline", one.baseline},
            {"candidate", one.candidate}};
  };
  return {cluster(modes->lower), cluster(modes->upper)};
}

json outliers_json(const baselines::GateResult& result) {
  json list = json::array();
  for (const auto& [side, outliers] : {std::pair("baseline", &result.outliers_in_baseline),
                                       std::pair("candidate", &result.outliers_in_candidate)}) {
    for (const baselines::Outlier& one : *outliers) {
      list.push_back({{"side", side},
                      {"process", one.name},
                      {"relative_deviation", json_number(one.relative_deviation)},
                      {"benchmarks", one.benchmarks},
                      {"set_aside", one.is_set_aside}});
    }
  }
  return list;
}

// Null where no entry fits.
json accepted_json(const Verdict& verdict) {
  if (!verdict.accepted) return nullptr;
  const auto& [pattern, effect, reason, who, until, link] = *verdict.accepted;
  using enum baselines::AcceptedState;
  const char* const state = verdict.accepted_state == kCovers     ? "covers"
                            : verdict.accepted_state == kOutgrown ? "outgrown"
                                                                  : "expired";
  return {{"state", state},         {"pattern", pattern}, {"effect", json_interval(effect)},
          {"reason", reason},       {"who", who},         {"until", until},
          {"link", text_json(link)}};
}

// Null where the rates or the benchmark's work are unknown.
json roofline_json(const RooflineTimes& rooflines, const std::string& benchmark) {
  const auto found = rooflines.find(benchmark);
  if (found == rooflines.end()) return nullptr;
  return {{"time_ns", json_number(found->second.ns)},
          {"share", json_number(found->second.share())}};
}

const baselines::BenchmarkSeries* series_of(const baselines::Run& run, const std::string& name) {
  const auto found = std::ranges::find(run.benchmarks, name, &baselines::BenchmarkSeries::name);
  return found == run.benchmarks.end() ? nullptr : &*found;
}

// Null where a side lacks the benchmark.
json code_json(const GateFacts& facts, const std::string& name) {
  const baselines::BenchmarkSeries* const before = series_of(facts.baseline->run, name);
  const baselines::BenchmarkSeries* const now = series_of(facts.candidate, name);
  if (before == nullptr || now == nullptr) return nullptr;
  if (!baselines::code_is_known(*before) || !baselines::code_is_known(*now)) return "unknown";
  return baselines::identical_code(*before, *now) ? "identical" : "differs";
}

// Why its time changed, or does not count.
json cause_json(const GateFacts& facts, const Verdict& verdict) {
  if (verdict.kind == baselines::VerdictKind::kIdentical) return "identical_code";
  const auto& diffs = facts.result.kernel_diffs;
  const auto diff = std::ranges::find(diffs, verdict.benchmark, &baselines::KernelDiff::benchmark);
  if (diff != diffs.end()) return cause_name(diff->kind);
  return verdict.reason.choice_changes.empty() ? json(nullptr) : json("choices");
}

json choice_json(const baselines::ChoiceChange& choice) {
  return {{"stage", choice.name}, {"baseline", choice.before}, {"candidate", choice.after}};
}

json verdict_json(const Verdict& verdict, const GateFacts& facts, const RooflineTimes& rooflines) {
  const baselines::Estimates& estimates = verdict.estimates;
  const baselines::Rule& rule = facts.options.rule;
  return {
      {"code", code_json(facts, verdict.benchmark)},
      {"cause", cause_json(facts, verdict)},
      {"choices", list_of(verdict.reason.choice_changes, choice_json)},
      {"next", next_step(verdict).action},
      {"benchmark", verdict.benchmark},
      {"verdict", verdict_name(verdict.kind)},
      {"first_sight", verdict_name(first_sight(verdict))},
      {"effect", json_number(estimates.effect)},
      {"decided_by", quantity_name(verdict.decided_by)},
      {"ruled_out", json_number(estimates.ruled_out)},
      {"effect_time", json_number(estimates.in_time)},
      {"effect_equal_clock", json_number(estimates.at_equal_clock)},
      {"effect_cycles", json_number(estimates.in_cycles)},
      {"machine_effect", json_number(estimates.machine)},
      {"clock_share", json_number(estimates.clock_share)},
      {"interval", json_interval(estimates.interval)},
      {"baseline_ns", json_number(verdict.baseline.time_ns)},
      {"candidate_ns", json_number(verdict.candidate.time_ns)},
      {"baseline_energy_j", json_number(verdict.baseline.energy_j)},
      {"candidate_energy_j", json_number(verdict.candidate.energy_j)},
      {"p", json_number(estimates.p)},
      {"smallest_detectable", json_number(estimates.smallest_detectable)},
      {"min_effect", limits_of(rule, verdict.settings).min_effect},
      {"allow", allowed(verdict, facts.options.allow)},
      {"baseline_processes", verdict.baseline.processes},
      {"candidate_processes", verdict.candidate.processes},
      {"clock_moved", verdict.reason.clock_moved},
      {"machine_moved", verdict.reason.machine_moved},
      {"suite_moved", json_number(estimates.common)},
      {"modes", modes_json(verdict.reason.modes)},
      {"roofline", roofline_json(rooflines, verdict.benchmark)},
      {"reason", reason_text(verdict, rule)},
      {"accepted", accepted_json(verdict)},
      {"warnings", list_of(verdict.warnings, baselines::warning_name)},
  };
}

json difference_json(const baselines::EnvironmentDifference& difference) {
  return {{"field", difference.field},
          {"baseline", difference.baseline},
          {"candidate", difference.candidate}};
}

json family_json(const baselines::Family& family) {
  return {{"family", family.name},
          {"rows", family.rows},
          {"effect", json_number(family.mean_effect)},
          {"lowest", json_number(family.lowest_effect)},
          {"highest", json_number(family.highest_effect)},
          {"regressions", family.regressions},
          {"improvements", family.improvements}};
}

json kernel_json(const std::optional<baselines::ProfiledKernel>& kernel) {
  if (!kernel) return nullptr;
  return {{"name", kernel->name},
          {"stage", kernel->stage},
          {"duration_ns", json_number(kernel->duration_ns)},
          {"gap_ns", json_number(kernel->gap_ns)}};
}

json sides_json(const baselines::BeforeAfter& values) {
  return {{"baseline", json_number(values.before)}, {"candidate", json_number(values.after)}};
}

// As a number where it is one.
json value_json(const std::string& value) {
  const bool is_a_number =
      !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return is_a_number && value.size() < 16 ? json(std::stoll(value)) : json(value);
}

json fact_json(const baselines::LaunchFact& fact) {
  return {{"what", fact.what},
          {"baseline", value_json(fact.before)},
          {"candidate", value_json(fact.after)},
          {"unit", fact.unit}};
}

json launch_change_json(const baselines::LaunchChange& change) {
  const auto kernel = [](const std::optional<baselines::LaunchIdentity>& launch) {
    return launch ? json(launch->kernel) : json(nullptr);
  };
  return {{"stage", change.stage},
          {"baseline", kernel(change.before)},
          {"candidate", kernel(change.after)},
          {"code_changed", change.code_changed()},
          {"arguments_changed", change.arguments_changed()},
          {"facts", list_of(change.facts, fact_json)}};
}

json pair_json(const baselines::KernelPair& pair) {
  return {{"baseline", kernel_json(pair.before)},
          {"candidate", kernel_json(pair.after)},
          {"differences", pair.differences}};
}

json kernel_diff_json(const baselines::KernelDiff& diff) {
  return {{"benchmark", diff.benchmark},
          {"cause", cause_name(diff.kind)},
          {"summary", kernel_diff_text(diff)},
          {"changed", diff.launches_changed()},
          {"kernels", list_of(diff.pairs, pair_json)},
          {"work_differences", work_texts(diff)},
          {"work_changes", list_of(diff.work_changes, launch_change_json)},
          {"work_unknown", text_json(diff.work_unknown)},
          {"gaps_ns", sides_json(diff.gaps_ns)},
          {"leads_ns", sides_json(diff.leads_ns)},
          {"memory_operations", sides_json(diff.memory_operations)},
          {"host_ns", sides_json(diff.host_ns)}};
}

json host_change_json(const baselines::HostChange& change) {
  return {{"benchmark", change.benchmark},
          {"launched", host_launch_name(change.launch)},
          {"verdict", host_verdict_name(change.verdict)},
          {"reason", host_obstacle_text(change.obstacle)},
          {"effect", json_number(change.effect)},
          {"interval", json_interval(change.interval)},
          {"p", json_number(change.p)},
          {"baseline_ns", json_number(change.baseline_ns)},
          {"candidate_ns", json_number(change.candidate_ns)}};
}

json host_json(const baselines::HostTimes& host) {
  return {{"compared", host.compared},
          {"other_host", host.other_host},
          {"changes", list_of(host.changes, host_change_json)}};
}

json staleness_json(const baselines::Staleness& staleness) {
  return {{"age_days", staleness.age_days ? json_number(*staleness.age_days) : json(nullptr)},
          {"max_age_days", staleness.max_age_days},
          {"too_old", staleness.too_old},
          {"libraries", list_of(staleness.libraries, difference_json)},
          {"not_in_baseline", staleness.not_in_baseline},
          {"not_in_candidate", staleness.not_in_candidate},
          {"notes", staleness_notes(staleness)}};
}

json anchor_json(const baselines::Creep& creep) {
  return {{"source", creep.anchor},
          {"when", creep.since},
          {"not_judged", text_json(creep_not_judged(creep))}};
}

json creep_json(const baselines::Creep& creep, const std::optional<double>& max_creep) {
  return list_of(creep.slower, [&](const Verdict& verdict) -> json {
    return {{"what", verdict.benchmark},
            {"effect", json_number(verdict.estimates.effect)},
            {"interval", json_interval(verdict.estimates.interval)},
            {"beyond_max_creep", max_creep && is_beyond(verdict, *max_creep)}};
  });
}

json unmet_json(const baselines::UnmetExpectation& unmet) {
  return {{"benchmark", unmet.benchmark},
          {"expectation", baselines::expectation_json(unmet.expectation)}};
}

json memory_json(const baselines::MemoryGrowth& growth) {
  return {{"benchmark", growth.benchmark},
          {"what", growth.counter},
          {"baseline_bytes", growth.baseline},
          {"candidate_bytes", growth.candidate}};
}

json left_out_json(const baselines::LeftOut& left_out) {
  return {{"side", left_out.side}, {"what", left_out.what}, {"why", left_out.why}};
}

// Every kind, so that a reader need not know which may be absent.
json counts_json(const std::vector<Verdict>& verdicts) {
  json counts = json::object();
  for (const baselines::VerdictKind kind : kVerdictOrder) {
    counts[verdict_name(kind)] = count_of(verdicts, kind);
  }
  return counts;
}

json next_json(const NextStep& next, const std::vector<Verdict>& verdicts) {
  json benchmarks = json::array();
  for (const Verdict& verdict : verdicts) {
    const NextStep own = next_step(verdict);
    if (own.action == next.action && own.action != kNothingToDo.action) {
      benchmarks.push_back(verdict.benchmark);
    }
  }
  return {{"action", next.action}, {"text", next.text}, {"benchmarks", benchmarks}};
}

json rule_json(const baselines::GateOptions& options) {
  const baselines::Rule& rule = options.rule;
  return {{"min_effect", rule.min_effect},  {"tested_effect", tested_effect(rule)},
          {"allow", options.allow},         {"false_discovery_rate", rule.false_discovery_rate},
          {"confidence", rule.confidence},  {"host_min_effect", rule.host.min_effect},
          {"host_min_ns", rule.host.min_ns}};
}

// Null where all were judged.
json filter_json(const GateFacts& facts) {
  if (facts.options.filter.empty()) return nullptr;
  return {{"pattern", facts.options.filter},
          {"judged", facts.result.verdicts.size()},
          {"of", facts.result.benchmarks}};
}

}  // namespace

json gate_json(const GateFacts& facts) {
  const baselines::GateResult& result = facts.result;
  const baselines::GateOptions& options = facts.options;
  const baselines::Run& baseline = facts.baseline->run;
  const RooflineTimes rooflines = roofline_times(facts.candidate, earlier_runs(facts));
  const auto verdict = [&](const auto& one) { return verdict_json(one, facts, rooflines); };
  return {
      {kVerdictsMark, kVerdictsVersion},
      {"causes", list_of(result.causes, gate_cause_name)},
      {"next", next_json(next_step(facts), result.verdicts)},
      {"exit_code", static_cast<int>(result.exit_code)},
      {"headline", gate_headline(facts)},
      {"environment_differences", list_of(result.environment_differences, difference_json)},
      {"notes", gate_notes(facts)},
      {"outlier_processes", outliers_json(result)},
      {"left_out", list_of(result.left_out, left_out_json)},
      {"counts", counts_json(result.verdicts)},
      {"rule", rule_json(options)},
      {"families", list_of(result.families, family_json)},
      {"kernels", list_of(result.kernel_diffs, kernel_diff_json)},
      {"host_times", host_json(result.host)},
      {"unmet_expectations", list_of(result.unmet_expectations, unmet_json)},
      {"memory_growth", list_of(result.memory_growth, memory_json)},
      {"staleness", result.staleness ? staleness_json(*result.staleness) : json(nullptr)},
      {"anchor", result.creep ? anchor_json(*result.creep) : json(nullptr)},
      {"creep", result.creep ? creep_json(*result.creep, options.max_creep) : json::array()},
      {"replay", facts.replay ? replay_json(*facts.replay, baseline) : json(nullptr)},
      {"verdicts", list_of(result.verdicts, verdict)},
      {"models",
       models_json(model_times(facts.candidate, earlier_runs(facts), result.verdicts), rooflines)},
      {"filter", filter_json(facts)},
      {baselines::kSettings, baselines::settings_json(facts.candidate.provenance.settings)},
      {"baseline", baseline.source},
      {"candidate", facts.candidate.source},
      {"aa", facts.aa ? aa_json(*facts.aa) : json(nullptr)},
      {"smallest_detectable", detectability_json(result.verdicts)},
  };
}

json gate_failure_json(const std::string& problem) {
  return {{kVerdictsMark, kVerdictsVersion},
          {"exit_code", static_cast<int>(baselines::ExitCode::kCouldNotJudge)},
          {"headline", problem},
          {"causes", json::array()},
          {"next", next_json(kFixInput, {})},
          {"verdicts", json::array()}};
}

}  // namespace fusegate::ci
