// The gate's result for other programs: the file of `fusegate gate --json`.
#include <cmath>

#include "baselines/gate.h"

namespace fusegate {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json verdict_json(const Verdict& verdict) {
  json doubts = json::array();
  for (const Doubt doubt : verdict.doubts) doubts.push_back(doubt_name(doubt));
  return {
      {"benchmark", verdict.benchmark},
      {"verdict", verdict_name(verdict.kind)},
      {"effect_time", number(verdict.effect_time)},
      {"effect_cycles", number(verdict.effect_cycles)},
      {"interval",
       {{"low", number(verdict.interval.low)}, {"high", number(verdict.interval.high)}}},
      {"baseline_ns", number(verdict.baseline_ns)},
      {"candidate_ns", number(verdict.candidate_ns)},
      {"p", number(verdict.p)},
      {"smallest_detectable", number(verdict.smallest_detectable)},
      {"baseline_invocations", verdict.baseline_invocations},
      {"candidate_invocations", verdict.candidate_invocations},
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
      {"verdicts", std::move(verdicts)},
  };
}

}  // namespace fusegate
