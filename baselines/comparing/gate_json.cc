// The gate's result for other programs: the file of `fusegate gate --json`.
#include <cmath>

#include "baselines/comparing/gate.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json interval_json(const Interval& interval) {
  return {{"low", number(interval.low)}, {"high", number(interval.high)}};
}

json verdict_json(const Verdict& verdict) {
  json doubts = json::array();
  for (const Doubt doubt : verdict.doubts) doubts.push_back(doubt_name(doubt));
  return {
      {"benchmark", verdict.benchmark},
      {"verdict", verdict_name(verdict.kind)},
      {"effect", number(verdict.effect)},
      {"effect_time", number(verdict.effect_time)},
      {"effect_cycles", number(verdict.effect_cycles)},
      {"clock_share", number(verdict.clock_share)},
      {"interval", interval_json(verdict.interval)},
      {"baseline_ns", number(verdict.baseline_ns)},
      {"candidate_ns", number(verdict.candidate_ns)},
      {"p", number(verdict.p)},
      {"smallest_detectable", number(verdict.smallest_detectable)},
      {"baseline_invocations", verdict.baseline_invocations},
      {"candidate_invocations", verdict.candidate_invocations},
      {"clock_moved", verdict.clock_moved},
      {"reason", verdict.reason},
      {"doubts", std::move(doubts)},
  };
}

json differences_json(const std::vector<EnvironmentDifference>& differences) {
  json list = json::array();
  for (const EnvironmentDifference& difference : differences) {
    list.push_back({{"field", difference.field},
                    {"baseline", difference.baseline},
                    {"candidate", difference.candidate}});
  }
  return list;
}

json family_json(const Family& family) {
  return {{"family", family.name},
          {"rows", family.rows},
          {"effect", number(family.mean_effect)},
          {"lowest", number(family.lowest_effect)},
          {"highest", number(family.highest_effect)},
          {"regressions", family.regressions},
          {"improvements", family.improvements}};
}

json kernel_json(const std::optional<ProfiledKernel>& kernel) {
  if (!kernel) return nullptr;
  return {{"name", kernel->name},
          {"stage", kernel->stage},
          {"duration_ns", number(kernel->duration_ns)},
          {"gap_ns", number(kernel->gap_ns)}};
}

json sides_json(const BeforeAfter& values) {
  return {{"baseline", number(values.before)}, {"candidate", number(values.after)}};
}

json story_json(const KernelStory& story) {
  json kernels = json::array();
  for (const KernelPair& pair : story.pairs) {
    kernels.push_back({{"baseline", kernel_json(pair.before)},
                       {"candidate", kernel_json(pair.after)},
                       {"differences", pair.differences}});
  }
  return {{"benchmark", story.benchmark},
          {"cause", story_name(story.kind)},
          {"summary", story.sentence},
          {"changed", story.launches_changed()},
          {"kernels", std::move(kernels)},
          {"gaps_ns", sides_json(story.gaps_ns)},
          {"leads_ns", sides_json(story.leads_ns)},
          {"memory_operations", sides_json(story.memory_operations)},
          {"host_ns", sides_json(story.host_ns)}};
}

json staleness_json(const Staleness& staleness) {
  return {{"age_days", staleness.age_days ? number(*staleness.age_days) : json(nullptr)},
          {"max_age_days", staleness.max_age_days},
          {"too_old", staleness.too_old},
          {"libraries", differences_json(staleness.libraries)},
          {"not_in_baseline", staleness.not_in_baseline},
          {"not_in_candidate", staleness.not_in_candidate},
          {"notes", staleness.notes}};
}

json anchor_json(const Creep& creep) {
  json not_judged = creep.not_judged.empty() ? json(nullptr) : json(creep.not_judged);
  return {{"source", creep.anchor}, {"when", creep.since}, {"not_judged", std::move(not_judged)}};
}

json creep_json(const Creep& creep, const std::optional<double>& max_creep) {
  json list = json::array();
  for (const Verdict& verdict : creep.slower) {
    list.push_back({{"what", verdict.benchmark},
                    {"effect", number(verdict.effect)},
                    {"interval", interval_json(verdict.interval)},
                    {"beyond_max_creep", max_creep && is_beyond(verdict, *max_creep)}});
  }
  return list;
}

json unmet_json(const std::vector<UnmetExpectation>& unmet) {
  json list = json::array();
  for (const UnmetExpectation& one : unmet) {
    list.push_back(
        {{"benchmark", one.benchmark}, {"expectation", expectation_json(one.expectation)}});
  }
  return list;
}

// Every kind, so that a reader need not know which may be absent.
json counts_json(const std::vector<Verdict>& verdicts) {
  json counts = json::object();
  for (const VerdictKind kind : {VerdictKind::kRegression, VerdictKind::kImprovement,
                                 VerdictKind::kUnchanged, VerdictKind::kInconclusive,
                                 VerdictKind::kNew, VerdictKind::kMissing, VerdictKind::kInvalid}) {
    counts[verdict_name(kind)] = 0;
  }
  for (const Verdict& verdict : verdicts) {
    json& total = counts[verdict_name(verdict.kind)];
    total = total.get<int>() + 1;
  }
  return counts;
}

}  // namespace

json gate_json(const GateResult& result, const GateOptions& options) {
  json verdicts = json::array();
  for (const Verdict& verdict : result.verdicts) verdicts.push_back(verdict_json(verdict));
  json stories = json::array();
  for (const KernelStory& story : result.stories) stories.push_back(story_json(story));
  json families = json::array();
  for (const Family& family : result.families) families.push_back(family_json(family));
  return {
      {"exit_code", static_cast<int>(result.exit_code)},
      {"headline", result.headline},
      {"environment_differences", differences_json(result.environment_differences)},
      {"notes", result.notes},
      {"counts", counts_json(result.verdicts)},
      {"rule",
       {{"min_effect", options.rule.min_effect},
        {"false_discovery_rate", options.rule.false_discovery_rate},
        {"confidence", options.rule.confidence}}},
      {"families", std::move(families)},
      {"kernels", std::move(stories)},
      {"unmet_expectations", unmet_json(result.unmet_expectations)},
      {"staleness", result.staleness ? staleness_json(*result.staleness) : json(nullptr)},
      {"anchor", result.creep ? anchor_json(*result.creep) : json(nullptr)},
      {"creep", result.creep ? creep_json(*result.creep, options.max_creep) : json::array()},
      {"verdicts", std::move(verdicts)},
  };
}

}  // namespace fusegate::baselines
