#include "ci/gate/gate_json.h"

#include "ci/console/json_number.h"
#include "ci/gate/gate_words.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/replay_section.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

json heap_json(const baselines::Modes::Heap& heap) {
  return {{"time_ns", json_number(heap.time_ns)},
          {"baseline", heap.baseline},
          {"candidate", heap.candidate}};
}

json modes_json(const std::optional<baselines::Modes>& modes) {
  if (!modes) return nullptr;
  return json::array({heap_json(modes->lower), heap_json(modes->upper)});
}

void add_odd(const std::vector<baselines::OddProcess>& odd, std::string_view side, json& list) {
  for (const baselines::OddProcess& one : odd) {
    list.push_back({{"side", side},
                    {"process", one.name},
                    {"departure", json_number(one.departure)},
                    {"benchmarks", one.rows},
                    {"set_aside", one.is_set_aside}});
  }
}

json verdict_json(const baselines::Verdict& verdict, const baselines::Rule& rule) {
  json doubts = json::array();
  for (const baselines::Doubt doubt : verdict.doubts) doubts.push_back(doubt_name(doubt));
  return {
      {"benchmark", verdict.benchmark},
      {"verdict", verdict_name(verdict.kind)},
      {"first_sight", verdict_name(first_sight(verdict))},
      {"effect", json_number(verdict.effect)},
      {"decided_by", quantity_name(verdict.decided_by)},
      {"ruled_out", json_number(verdict.ruled_out)},
      {"effect_time", json_number(verdict.effect_time)},
      {"effect_equal_clock", json_number(verdict.effect_equal_clock)},
      {"effect_cycles", json_number(verdict.effect_cycles)},
      {"machine_effect", json_number(verdict.machine_effect)},
      {"clock_share", json_number(verdict.clock_share)},
      {"interval", json_interval(verdict.interval)},
      {"baseline_ns", json_number(verdict.baseline_ns)},
      {"candidate_ns", json_number(verdict.candidate_ns)},
      {"baseline_energy_j", json_number(verdict.baseline_energy_j)},
      {"candidate_energy_j", json_number(verdict.candidate_energy_j)},
      {"p", json_number(verdict.p)},
      {"smallest_detectable", json_number(verdict.smallest_detectable)},
      {"baseline_invocations", verdict.baseline_invocations},
      {"candidate_invocations", verdict.candidate_invocations},
      {"clock_moved", verdict.clock_moved},
      {"machine_moved", verdict.machine_moved},
      {"suite_moved", json_number(verdict.suite_moved)},
      {"modes", modes_json(verdict.modes)},
      {"reason", reason_text(verdict, rule)},
      {"doubts", std::move(doubts)},
  };
}

json differences_json(const std::vector<baselines::EnvironmentDifference>& differences) {
  json list = json::array();
  for (const baselines::EnvironmentDifference& difference : differences) {
    list.push_back({{"field", difference.field},
                    {"baseline", difference.baseline},
                    {"candidate", difference.candidate}});
  }
  return list;
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

json launch_change_json(const baselines::LaunchChange& change) {
  json facts = json::array();
  for (const baselines::LaunchFact& fact : change.facts) {
    facts.push_back({{"what", fact.what},
                     {"baseline", value_json(fact.before)},
                     {"candidate", value_json(fact.after)},
                     {"unit", fact.unit}});
  }
  const auto kernel = [](const std::optional<baselines::LaunchIdentity>& launch) {
    return launch ? json(launch->kernel) : json(nullptr);
  };
  return {{"stage", change.stage},
          {"baseline", kernel(change.before)},
          {"candidate", kernel(change.after)},
          {"code_changed", change.code_changed()},
          {"arguments_changed", change.arguments_changed()},
          {"facts", std::move(facts)}};
}

json work_changes_json(const std::vector<baselines::LaunchChange>& changes) {
  json list = json::array();
  for (const baselines::LaunchChange& change : changes) list.push_back(launch_change_json(change));
  return list;
}

json story_json(const baselines::KernelStory& story) {
  json kernels = json::array();
  for (const baselines::KernelPair& pair : story.pairs) {
    kernels.push_back({{"baseline", kernel_json(pair.before)},
                       {"candidate", kernel_json(pair.after)},
                       {"differences", pair.differences}});
  }
  return {{"benchmark", story.benchmark},
          {"cause", story_name(story.kind)},
          {"summary", story_text(story)},
          {"changed", story.launches_changed()},
          {"kernels", std::move(kernels)},
          {"work_differences", work_texts(story)},
          {"work_changes", work_changes_json(story.work_changes)},
          {"work_unknown", story.work_unknown.empty() ? json(nullptr) : json(story.work_unknown)},
          {"gaps_ns", sides_json(story.gaps_ns)},
          {"leads_ns", sides_json(story.leads_ns)},
          {"memory_operations", sides_json(story.memory_operations)},
          {"host_ns", sides_json(story.host_ns)}};
}

json host_json(const baselines::HostTimes& host) {
  json changes = json::array();
  for (const baselines::HostChange& change : host.changes) {
    changes.push_back({{"benchmark", change.benchmark},
                       {"launched", host_launch_name(change.launch)},
                       {"verdict", host_verdict_name(change.verdict)},
                       {"reason", host_obstacle_text(change.obstacle)},
                       {"effect", json_number(change.effect)},
                       {"interval", json_interval(change.interval)},
                       {"p", json_number(change.p)},
                       {"baseline_ns", json_number(change.baseline_ns)},
                       {"candidate_ns", json_number(change.candidate_ns)}});
  }
  return {{"compared", host.compared},
          {"other_host", host.other_host},
          {"changes", std::move(changes)}};
}

json staleness_json(const baselines::Staleness& staleness) {
  return {{"age_days", staleness.age_days ? json_number(*staleness.age_days) : json(nullptr)},
          {"max_age_days", staleness.max_age_days},
          {"too_old", staleness.too_old},
          {"libraries", differences_json(staleness.libraries)},
          {"not_in_baseline", staleness.not_in_baseline},
          {"not_in_candidate", staleness.not_in_candidate},
          {"notes", staleness_notes(staleness)}};
}

json anchor_json(const baselines::Creep& creep) {
  const std::string why = creep_not_judged(creep);
  return {{"source", creep.anchor},
          {"when", creep.since},
          {"not_judged", why.empty() ? json(nullptr) : json(why)}};
}

json creep_json(const baselines::Creep& creep, const std::optional<double>& max_creep) {
  json list = json::array();
  for (const baselines::Verdict& verdict : creep.slower) {
    list.push_back({{"what", verdict.benchmark},
                    {"effect", json_number(verdict.effect)},
                    {"interval", json_interval(verdict.interval)},
                    {"beyond_max_creep", max_creep && is_beyond(verdict, *max_creep)}});
  }
  return list;
}

json unmet_json(const std::vector<baselines::UnmetExpectation>& unmet) {
  json list = json::array();
  for (const baselines::UnmetExpectation& one : unmet) {
    list.push_back({{"benchmark", one.benchmark},
                    {"expectation", baselines::expectation_json(one.expectation)}});
  }
  return list;
}

json left_out_json(const std::vector<baselines::LeftOut>& left_out) {
  json list = json::array();
  for (const auto& [side, what, why] : left_out) {
    list.push_back({{"side", side}, {"what", what}, {"why", why}});
  }
  return list;
}

// Every kind, so that a reader need not know which may be absent.
json counts_json(const std::vector<baselines::Verdict>& verdicts) {
  json counts = json::object();
  for (const baselines::VerdictKind kind :
       {baselines::VerdictKind::kRegression, baselines::VerdictKind::kImprovement,
        baselines::VerdictKind::kUnchanged, baselines::VerdictKind::kIdentical,
        baselines::VerdictKind::kInconclusive, baselines::VerdictKind::kNew,
        baselines::VerdictKind::kMissing, baselines::VerdictKind::kInvalid}) {
    counts[verdict_name(kind)] = 0;
  }
  for (const baselines::Verdict& verdict : verdicts) {
    json& total = counts[verdict_name(verdict.kind)];
    total = total.get<int>() + 1;
  }
  return counts;
}

}  // namespace

json gate_json(const Judgement& judgement, const baselines::Run& candidate) {
  const baselines::GateResult& result = judgement.result;
  const baselines::GateOptions& options = judgement.options;
  json verdicts = json::array();
  for (const baselines::Verdict& verdict : result.verdicts)
    verdicts.push_back(verdict_json(verdict, options.rule));
  json odd = json::array();
  add_odd(result.odd_in_baseline, "baseline", odd);
  add_odd(result.odd_in_candidate, "candidate", odd);
  json stories = json::array();
  for (const baselines::KernelStory& story : result.stories) stories.push_back(story_json(story));
  json families = json::array();
  for (const baselines::Family& family : result.families) families.push_back(family_json(family));
  return {
      {"exit_code", static_cast<int>(result.exit_code)},
      {"headline", gate_headline(result, options)},
      {"environment_differences", differences_json(result.environment_differences)},
      {"notes", gate_notes(judgement, candidate)},
      {"odd_processes", std::move(odd)},
      {"left_out", left_out_json(result.left_out)},
      {"counts", counts_json(result.verdicts)},
      {"rule",
       {{"min_effect", options.rule.min_effect},
        {"tested_effect", tested_effect(options.rule)},
        {"allow", options.allow},
        {"false_discovery_rate", options.rule.false_discovery_rate},
        {"confidence", options.rule.confidence},
        {"host_min_effect", options.rule.host.min_effect},
        {"host_min_ns", options.rule.host.min_ns}}},
      {"families", std::move(families)},
      {"kernels", std::move(stories)},
      {"host_times", host_json(result.host)},
      {"unmet_expectations", unmet_json(result.unmet_expectations)},
      {"staleness", result.staleness ? staleness_json(*result.staleness) : json(nullptr)},
      {"anchor", result.creep ? anchor_json(*result.creep) : json(nullptr)},
      {"creep", result.creep ? creep_json(*result.creep, options.max_creep) : json::array()},
      {"replay",
       judgement.replay ? replay_json(*judgement.replay, judgement.baseline.run) : json(nullptr)},
      {"verdicts", std::move(verdicts)},
  };
}

}  // namespace fusegate::ci
