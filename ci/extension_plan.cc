#include "ci/extension_plan.h"

#include <algorithm>

namespace fusegate {
namespace {

bool is_doubtful(VerdictKind kind) {
  return kind == VerdictKind::kRegression || kind == VerdictKind::kInconclusive;
}

// How many invocations beyond the minimum it should come to, as far as this look can tell.
int wanted(const LookedAt& benchmark, const ExtensionLimits& limits) {
  // Whatever failed since is invalid for good.
  if (!benchmark.first_doubt || benchmark.kind == VerdictKind::kInvalid) return 0;
  const bool was_suspicious = benchmark.first_doubt == VerdictKind::kRegression;
  if (was_suspicious && benchmark.extensions < limits.confirmation) return limits.confirmation;
  // After just the confirmation a regression is confirmed. After more it is one that looked
  // undecided before, and stopping now would be stopping because it looks slower.
  const bool is_confirmed = was_suspicious && benchmark.extensions == limits.confirmation &&
                            benchmark.kind == VerdictKind::kRegression;
  return is_doubtful(benchmark.kind) && !is_confirmed ? limits.most : 0;
}

bool is_unconfirmed(const LookedAt& benchmark) {
  const bool is_suspicious = benchmark.kind == VerdictKind::kRegression ||
                             benchmark.first_doubt == VerdictKind::kRegression;
  return is_suspicious && benchmark.extensions < kLeastConfirmation;
}

}  // namespace

ExtensionLimits extension_limits(int invocations, int max_invocations) {
  const int most = max_invocations - invocations;
  return {std::min(invocations, most), most};
}

ExtensionRound next_extension(const std::vector<LookedAt>& suite, const ExtensionLimits& limits) {
  ExtensionRound round;
  for (const LookedAt& benchmark : suite) {
    if (benchmark.extensions >= wanted(benchmark, limits)) continue;
    round.benchmarks.push_back(benchmark.benchmark);
    if (is_unconfirmed(benchmark)) round.unconfirmed.push_back(benchmark.benchmark);
  }
  return round;
}

ExtensionRound ExtensionPlan::look(const std::vector<Verdict>& verdicts) {
  const auto doubt = [](VerdictKind kind) {
    return kind == VerdictKind::kRegression ? 2 : kind == VerdictKind::kInconclusive ? 1 : 0;
  };
  std::map<std::string, VerdictKind> kinds;
  for (const Verdict& verdict : verdicts) {
    const auto [found, inserted] = kinds.try_emplace(verdict.benchmark, verdict.kind);
    if (doubt(verdict.kind) > doubt(found->second)) found->second = verdict.kind;
  }
  for (const auto& [name, kind] : kinds) {
    LookedAt& benchmark = suite_[name];
    benchmark.benchmark = name;
    benchmark.kind = kind;
    if (!benchmark.first_doubt && is_doubtful(kind)) benchmark.first_doubt = kind;
  }
  std::vector<LookedAt> suite;
  for (const auto& [name, benchmark] : suite_) suite.push_back(benchmark);
  return next_extension(suite, limits_);
}

void ExtensionPlan::count_round(const std::vector<std::string>& measured) {
  for (const std::string& name : measured) ++suite_.at(name).extensions;
}

}  // namespace fusegate
