#include "baselines/gating/creep.h"

#include <algorithm>
#include <functional>
#include <set>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/judge.h"

namespace fusegate::baselines {
namespace {

std::vector<Verdict> slower_since(const std::vector<Verdict>& anchor,
                                  const std::vector<Verdict>& baseline) {
  std::set<std::string> known;
  for (const Verdict& verdict : baseline) {
    if (verdict.kind == VerdictKind::kRegression) known.insert(verdict.benchmark);
  }
  std::vector<Verdict> slower;
  for (const Verdict& verdict : anchor) {
    if (verdict.kind != VerdictKind::kRegression) continue;
    if (!known.contains(verdict.benchmark)) slower.push_back(verdict);
  }
  std::ranges::stable_sort(slower, std::ranges::greater{},
                           [](const Verdict& verdict) { return verdict.estimates.effect; });
  return slower;
}

}  // namespace

Creep creep_since(const Baseline& anchor, const Run& candidate,
                  const std::vector<Verdict>& against_baseline, const Rule& rule,
                  const Settings& settings, const std::string& filter) {
  Creep creep;
  creep.anchor = anchor.run.source;
  creep.since = anchor.acceptance.when;
  creep.other_card = circumstances_of(anchor.run, candidate).other_card;
  creep.differences = differences_between(anchor.run, candidate);
  if (!creep.differences.empty()) return creep;
  creep.slower =
      slower_since(judge(anchor.run, candidate, rule, settings, filter), against_baseline);
  return creep;
}

bool is_beyond(const Verdict& verdict, double max_creep) {
  return verdict.estimates.interval.low > max_creep;
}

}  // namespace fusegate::baselines
