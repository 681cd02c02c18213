#include "baselines/comparing/creep.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/families.h"
#include "baselines/comparing/judge.h"
#include "baselines/io/instant.h"

namespace fusegate::baselines {
namespace {

std::string why_not_judged(const std::vector<EnvironmentDifference>& differences) {
  const EnvironmentDifference& first = differences.front();
  std::string text =
      fmt::format("{} is {} there and {} here", first.field, first.baseline, first.candidate);
  if (differences.size() > 1) text += fmt::format(", and {} more differ", differences.size() - 1);
  return text;
}

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
  std::ranges::stable_sort(slower, std::ranges::greater{}, &Verdict::effect);
  return slower;
}

// A family in place of its rows.
std::string slower_text(const std::vector<Verdict>& slower) {
  constexpr std::size_t kShown = 3;
  const std::vector<Family> families = families_of(slower);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, families.size()); ++i) {
    const Family& family = families[i];
    const auto of_family = [&](const Verdict& row) {
      return family_of(row.benchmark) == family.name;
    };
    text += i > 0 ? "; " : "";
    text += family.rows > 1 ? fmt::format("{} of {}", family.rows, family.name)
                            : std::ranges::find_if(slower, of_family)->benchmark;
    text += fmt::format(" {:.1f} % slower", 100 * family.mean_effect);
  }
  if (families.size() > kShown) text += fmt::format("; and {} more", families.size() - kShown);
  return text;
}

}  // namespace

std::string acceptance_date(const Creep& creep) {
  return parse_instant(creep.since) ? creep.since.substr(0, creep.since.find_first_of("T "))
                                    : creep.since;
}

Creep creep_since(const Baseline& anchor, const Run& candidate,
                  const std::vector<Verdict>& against_baseline, const Rule& rule) {
  Creep creep;
  creep.anchor = anchor.run.source;
  creep.since = anchor.acceptance.when;
  if (const auto differences = differences_between(anchor.run, candidate); !differences.empty()) {
    creep.not_judged = why_not_judged(differences);
    creep.notes.push_back(fmt::format(
        "The anchor of {} cannot tell of creep: {}. fusegate accept RUN --anchor replaces it.",
        acceptance_date(creep), creep.not_judged));
    return creep;
  }
  creep.slower = slower_since(judge(anchor.run, candidate, rule), against_baseline);
  if (creep.slower.empty()) return creep;
  const bool other_card = circumstances_of(anchor.run, candidate).other_card;
  creep.notes.push_back(fmt::format("Since the anchor of {}{}: {}.", acceptance_date(creep),
                                    other_card ? ", on another card" : "",
                                    slower_text(creep.slower)));
  return creep;
}

bool is_beyond(const Verdict& verdict, double max_creep) {
  return verdict.interval.low > max_creep;
}

}  // namespace fusegate::baselines
