#include "ci/gate/aa_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/comparing/judge.h"
#include "baselines/statistics/statistics.h"
#include "ci/console/format.h"

namespace fusegate::ci {

using nlohmann::json;

namespace {

struct Detectability {
  double median = 0;
  double worst = 0;
  std::string worst_benchmark;
};

// Nothing is detectable, and nothing was judged, where a side has a single process.
std::optional<Detectability> detectability_of(const std::vector<baselines::Verdict>& verdicts) {
  Detectability effects;
  std::vector<double> all;
  for (const baselines::Verdict& verdict : verdicts) {
    const double effect = verdict.estimates.smallest_detectable;
    if (!std::isfinite(effect)) continue;
    if (all.empty() || effect > effects.worst) {
      effects.worst = effect;
      effects.worst_benchmark = verdict.benchmark;
    }
    all.push_back(effect);
  }
  if (all.empty()) return std::nullopt;
  effects.median = baselines::median(std::move(all));
  return effects;
}

}  // namespace

AaFindings compare_aa(const baselines::Run& a, const baselines::Run& b,
                      const baselines::Rule& rule) {
  AaFindings findings;
  // Both sides of an A/A comparison have identical code, which is never called. It is to show how
  // other code would be judged.
  for (const baselines::Verdict& verdict :
       baselines::judge(baselines::without_identities(a), baselines::without_identities(b), rule)) {
    const int processes = std::min(verdict.baseline.processes, verdict.candidate.processes);
    if (verdict.kind == baselines::VerdictKind::kInvalid || verdict.is_control || processes < 2)
      continue;
    ++findings.benchmarks;
    findings.processes_a_side = std::max(findings.processes_a_side, processes);
    // Halves of a run are of few processes, and no fresh ones confirm them.
    const baselines::VerdictKind kind = first_sight(verdict);
    if (kind == baselines::VerdictKind::kRegression ||
        kind == baselines::VerdictKind::kImprovement) {
      findings.called.push_back(verdict.benchmark);
    }
  }
  return findings;
}

double alarm_rate_upper_bound(int comparisons, int alarms) {
  return baselines::binomial_interval(alarms, comparisons, 0.05).high;
}

std::string aa_text(const AaFindings& findings) {
  const std::size_t called = findings.called.size();
  const int alarms = findings.comparisons_with_alarm;
  const double bound_percent = 100 * alarm_rate_upper_bound(findings.comparisons, alarms);
  return fmt::format("{}, {}; so far {} of {} raised an alarm (95 % upper bound {:.{}f} %)",
                     format_count(static_cast<std::size_t>(findings.benchmarks), "benchmark"),
                     called == 0 ? "none called"
                                 : fmt::format("{} called though nothing changed (the first is {})",
                                               called, findings.called.front()),
                     alarms,
                     format_count(static_cast<std::size_t>(findings.comparisons), "comparison"),
                     bound_percent, bound_percent < 10 ? 1 : 0);
}

json aa_json(const AaFindings& findings) {
  return {{"benchmarks", findings.benchmarks},
          {"called", findings.called},
          {"processes_a_side", findings.processes_a_side},
          {"comparisons", findings.comparisons},
          {"comparisons_with_alarm", findings.comparisons_with_alarm},
          {"alarm_rate_upper_bound",
           alarm_rate_upper_bound(findings.comparisons, findings.comparisons_with_alarm)}};
}

int processes_a_side(const baselines::JsonField& field) {
  return field.at(field.find("processes_a_side") ? "processes_a_side" : "invocations_a_side")
      .integer();
}

AaFindings parse_aa(const baselines::JsonField& field) {
  AaFindings findings;
  findings.benchmarks = field.at("benchmarks").integer();
  for (const baselines::JsonField& name : field.at("called").elements()) {
    findings.called.push_back(name.text());
  }
  findings.processes_a_side = processes_a_side(field);
  findings.comparisons = field.at("comparisons").integer();
  const baselines::JsonField alarms = field.at("comparisons_with_alarm");
  findings.comparisons_with_alarm = alarms.integer();
  if (findings.comparisons_with_alarm < 0 ||
      findings.comparisons_with_alarm > findings.comparisons) {
    alarms.fail("must lie between 0 and the number of comparisons");
  }
  return findings;
}

std::string detectability_text(const std::vector<baselines::Verdict>& verdicts) {
  const auto effects = detectability_of(verdicts);
  if (!effects) return "";
  return fmt::format("smallest detectable effect {} in the median, {} at worst ({})",
                     format_fraction(effects->median), format_fraction(effects->worst),
                     effects->worst_benchmark);
}

json detectability_json(const std::vector<baselines::Verdict>& verdicts) {
  const auto effects = detectability_of(verdicts);
  if (!effects) return nullptr;
  return {{"median", effects->median},
          {"worst", effects->worst},
          {"worst_benchmark", effects->worst_benchmark}};
}

}  // namespace fusegate::ci
