#include "ci/gate/verdict_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr std::array kOrder{
    baselines::VerdictKind::kRegression,   baselines::VerdictKind::kInvalid,
    baselines::VerdictKind::kMissing,      baselines::VerdictKind::kImprovement,
    baselines::VerdictKind::kInconclusive, baselines::VerdictKind::kNew,
    baselines::VerdictKind::kUnchanged,    baselines::VerdictKind::kIdentical};

double size_of_effect(const baselines::Verdict& verdict) {
  return std::isfinite(verdict.effect) ? std::abs(verdict.effect) : -1;
}

bool comes_first(const baselines::Verdict* left, const baselines::Verdict* right) {
  const double left_size = size_of_effect(*left);
  const double right_size = size_of_effect(*right);
  return left_size != right_size ? left_size > right_size : left->benchmark < right->benchmark;
}

}  // namespace

std::vector<VerdictGroup> group_verdicts(const baselines::GateResult& result) {
  std::vector<VerdictGroup> groups;
  for (const baselines::VerdictKind kind : kOrder) {
    VerdictGroup group{kind, {}};
    for (const baselines::Verdict& verdict : result.verdicts) {
      if (verdict.kind == kind) group.verdicts.push_back(&verdict);
    }
    std::sort(group.verdicts.begin(), group.verdicts.end(), comes_first);
    if (!group.verdicts.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string count_text(std::size_t count, baselines::VerdictKind kind) {
  const std::string_view name = baselines::verdict_name(kind);
  const bool countable =
      kind == baselines::VerdictKind::kRegression || kind == baselines::VerdictKind::kImprovement;
  return countable ? format_count(count, name) : fmt::format("{} {}", count, name);
}

}  // namespace fusegate::ci
