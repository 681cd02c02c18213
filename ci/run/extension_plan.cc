#include "ci/run/extension_plan.h"

#include <algorithm>

namespace fusegate::ci {
namespace {

bool is_change(baselines::VerdictKind kind) {
  return kind == baselines::VerdictKind::kRegression ||
         kind == baselines::VerdictKind::kImprovement;
}

bool is_doubtful(baselines::VerdictKind kind) {
  return is_change(kind) || kind == baselines::VerdictKind::kInconclusive;
}

// How many processes beyond the minimum it should come to, as far as is known by now.
int wanted(const BenchmarkState& benchmark, const ExtensionLimits& limits) {
  // Whatever failed since is invalid for good.
  if (!benchmark.first_doubt || benchmark.kind == baselines::VerdictKind::kInvalid) return 0;
  const bool was_suspicious = is_change(*benchmark.first_doubt);
  if (was_suspicious && benchmark.extensions < limits.confirmation) return limits.confirmation;
  // After just the confirmation a change is confirmed. After more it is one that looked undecided
  // before, and stopping now would be stopping because it looks changed.
  const bool is_confirmed =
      was_suspicious && benchmark.extensions == limits.confirmation && is_change(benchmark.kind);
  return is_doubtful(benchmark.kind) && !is_confirmed ? limits.most : 0;
}

bool is_unconfirmed(const BenchmarkState& benchmark) {
  const bool is_suspicious = benchmark.kind == baselines::VerdictKind::kRegression ||
                             benchmark.first_doubt == baselines::VerdictKind::kRegression;
  return is_suspicious && benchmark.extensions < kLeastConfirmation;
}

}  // namespace

ExtensionLimits extension_limits(int processes, int max_processes) {
  const int most = max_processes - processes;
  return {std::min(processes, most), most};
}

ExtensionRound next_extension(const std::vector<BenchmarkState>& suite,
                              const ExtensionLimits& limits) {
  ExtensionRound round;
  for (const BenchmarkState& benchmark : suite) {
    if (benchmark.extensions >= wanted(benchmark, limits)) continue;
    round.benchmarks.push_back(benchmark.benchmark);
    if (is_unconfirmed(benchmark)) round.unconfirmed.push_back(benchmark.benchmark);
  }
  return round;
}

ExtensionRound ExtensionPlan::next(const std::vector<baselines::Verdict>& verdicts) {
  const auto doubt = [](baselines::VerdictKind kind) {
    if (kind == baselines::VerdictKind::kRegression) return 3;
    if (kind == baselines::VerdictKind::kInconclusive) return 2;
    return kind == baselines::VerdictKind::kImprovement ? 1 : 0;
  };
  std::map<std::string, const baselines::Verdict*> worst;
  for (const baselines::Verdict& verdict : verdicts) {
    const auto [found, inserted] = worst.try_emplace(verdict.benchmark, &verdict);
    if (doubt(first_sight(verdict)) > doubt(first_sight(*found->second))) found->second = &verdict;
  }
  for (const auto& [name, verdict] : worst) {
    BenchmarkState& benchmark = suite_[name];
    benchmark.benchmark = name;
    benchmark.kind = first_sight(*verdict);
    // A control's code is the same on both sides: nothing about it is open.
    const bool raises_doubt =
        is_doubtful(verdict->kind) && !verdict->is_control && !verdict->reason.machine_hides_it;
    if (!benchmark.first_doubt && raises_doubt) benchmark.first_doubt = benchmark.kind;
  }
  std::vector<BenchmarkState> suite;
  for (const auto& [name, benchmark] : suite_) suite.push_back(benchmark);
  return next_extension(suite, limits_);
}

void ExtensionPlan::count_round(const std::vector<std::string>& measured) {
  for (const std::string& name : measured) ++suite_.at(name).extensions;
}

}  // namespace fusegate::ci
