#include "baselines/gating/families.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace fusegate::baselines {
namespace {

bool is_parameter(std::string_view part) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return part.find(':') != part.npos || (!part.empty() && std::ranges::all_of(part, is_digit));
}

Family summarize(std::string_view name, const std::vector<const Verdict*>& rows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Family family{std::string(name), rows.size(), 0, 0, 0, kInfinity, -kInfinity};
  double logarithms = 0;
  for (const Verdict* row : rows) {
    family.regressions += row->kind == VerdictKind::kRegression;
    family.improvements += row->kind == VerdictKind::kImprovement;
    family.lowest_effect = std::min(family.lowest_effect, row->estimates.effect);
    family.highest_effect = std::max(family.highest_effect, row->estimates.effect);
    logarithms += std::log1p(row->estimates.effect);
  }
  family.mean_effect = std::expm1(logarithms / static_cast<double>(rows.size()));
  return family;
}

}  // namespace

std::string_view family_of(std::string_view benchmark) {
  std::size_t end = benchmark.find('/');
  while (end != benchmark.npos) {
    const std::size_t next = benchmark.find('/', end + 1);
    const auto length = next == benchmark.npos ? next : next - end - 1;
    if (is_parameter(benchmark.substr(end + 1, length))) return benchmark.substr(0, end);
    end = next;
  }
  return benchmark;
}

std::vector<Family> families_of(const std::vector<Verdict>& verdicts) {
  std::map<std::string_view, std::vector<const Verdict*>> rows;
  for (const Verdict& verdict : verdicts) {
    const bool is_code = !verdict.is_control && verdict.kind != VerdictKind::kIdentical;
    if (!is_code || !std::isfinite(verdict.estimates.effect)) continue;
    rows[family_of(verdict.benchmark)].push_back(&verdict);
  }
  std::vector<Family> families;
  for (const auto& [name, of_family] : rows) families.push_back(summarize(name, of_family));
  std::ranges::stable_sort(families, std::ranges::greater{}, &Family::mean_effect);
  return families;
}

}  // namespace fusegate::baselines
