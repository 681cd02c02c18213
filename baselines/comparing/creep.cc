#include "baselines/comparing/creep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/gate.h"
#include "baselines/io/instant.h"

namespace fusegate::baselines {
namespace {

std::string date_of(const std::string& when) {
  return parse_instant(when) ? when.substr(0, when.find_first_of("T ")) : when;
}

std::string why_not_judged(const std::vector<EnvironmentDifference>& differences) {
  const EnvironmentDifference& first = differences.front();
  std::string text =
      fmt::format("{} is {} there and {} here", first.field, first.baseline, first.candidate);
  if (differences.size() > 1) text += fmt::format(", and {} more differ", differences.size() - 1);
  return text;
}

std::set<std::string> slower_against(const GateResult& baseline) {
  std::set<std::string> slower;
  for (const FamilyFinding& finding : baseline.families) {
    if (finding.trend != FamilyTrend::kSlower) continue;
    for (const FamilyRow& row : finding.rows) slower.insert(row.benchmark);
  }
  return slower;
}

void find_ranges(const GateResult& anchor, const GateResult& baseline, Creep& creep) {
  const std::set<std::string> slower = slower_against(baseline);
  for (const FamilyFinding& finding : anchor.families) {
    CreepFinding found{finding.family + ", " + finding.range, finding.effect, finding.interval, {}};
    for (const FamilyRow& row : finding.rows) found.benchmarks.push_back(row.benchmark);
    const bool is_known = std::ranges::any_of(
        found.benchmarks, [&](const std::string& name) { return slower.contains(name); });
    const bool is_range = finding.rows.size() > 1;
    if (finding.trend == FamilyTrend::kSlower && is_range && !is_known) {
      creep.families.push_back(std::move(found));
    }
  }
}

void find_benchmarks(const GateResult& anchor, const GateResult& baseline,
                     std::optional<double> max_creep, Creep& creep) {
  std::set<std::string> known;
  for (const Verdict& verdict : baseline.verdicts) {
    if (verdict.kind == VerdictKind::kRegression) known.insert(verdict.benchmark);
  }
  for (const Verdict& verdict : anchor.verdicts) {
    if (verdict.kind != VerdictKind::kRegression) continue;
    if (known.contains(verdict.benchmark)) continue;
    CreepFinding found{verdict.benchmark, verdict.effect, verdict.interval, {verdict.benchmark}};
    found.beyond_limit = max_creep && found.interval.low > *max_creep;
    creep.benchmarks.push_back(std::move(found));
  }
}

// Ranges, and the benchmarks that are in none of them.
std::vector<CreepFinding> worth_a_note(const Creep& creep) {
  std::vector<CreepFinding> findings = creep.families;
  std::set<std::string> said;
  for (const CreepFinding& family : creep.families) {
    said.insert(family.benchmarks.begin(), family.benchmarks.end());
  }
  for (const CreepFinding& benchmark : creep.benchmarks) {
    if (!said.contains(benchmark.what)) findings.push_back(benchmark);
  }
  return findings;
}

void note_findings(bool is_other_card, Creep& creep) {
  constexpr std::size_t kShown = 3;
  const std::vector<CreepFinding> findings = worth_a_note(creep);
  if (findings.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, findings.size()); ++i) {
    text += fmt::format("{}{} {:.1f} % slower", i > 0 ? "; " : "", findings[i].what,
                        100 * findings[i].effect);
  }
  if (findings.size() > kShown) text += fmt::format("; and {} more", findings.size() - kShown);
  creep.notes.push_back(fmt::format("Since the anchor of {}{}: {}.", date_of(creep.since),
                                    is_other_card ? ", on another card" : "", text));
}

void largest_first(std::vector<CreepFinding>& findings) {
  std::ranges::stable_sort(findings, std::ranges::greater{}, &CreepFinding::effect);
}

}  // namespace

Creep creep_since(const Baseline& anchor, const Run& candidate, const GateResult& against_baseline,
                  const GateOptions& options) {
  GateOptions strictly_comparable = options;
  strictly_comparable.allow_environment_differences = false;
  const GateResult against_anchor = gate(anchor.run, candidate, strictly_comparable);
  Creep creep;
  creep.anchor = anchor.run.source;
  creep.since = anchor.acceptance.when;
  if (!against_anchor.environment_differences.empty()) {
    creep.not_judged = why_not_judged(against_anchor.environment_differences);
    creep.notes.push_back(
        fmt::format("The anchor of {} cannot tell of creep: {}. fusegate "
                    "accept RUN --anchor replaces it.",
                    date_of(creep.since), creep.not_judged));
    return creep;
  }
  find_ranges(against_anchor, against_baseline, creep);
  find_benchmarks(against_anchor, against_baseline, options.max_creep, creep);
  largest_first(creep.families);
  largest_first(creep.benchmarks);
  note_findings(circumstances_of(anchor.run, candidate).other_card, creep);
  return creep;
}

void fold_creep(const Creep& creep, const GateOptions& options, GateResult& result) {
  std::vector<CreepFinding> beyond = creep.benchmarks;
  std::erase_if(beyond, [](const CreepFinding& finding) { return !finding.beyond_limit; });
  if (beyond.empty() || result.exit_code == ExitCode::kRegression) return;
  result.exit_code = ExitCode::kRegression;
  result.headline = fmt::format(
      "{} of {} {} got slower by more than {:g} % since the anchor of {}, the most {} by {:.2f} %. "
      "Against the baseline: {}",
      beyond.size(), result.verdicts.size(),
      result.verdicts.size() == 1 ? "benchmark" : "benchmarks", 100 * *options.max_creep,
      date_of(creep.since), beyond.front().what, 100 * beyond.front().effect, result.headline);
}

}  // namespace fusegate::baselines
