#include "ci/run/extension_plan.h"

namespace fusegate::ci {
namespace {

using enum baselines::VerdictKind;

bool is_change(baselines::VerdictKind kind) { return kind == kRegression || kind == kImprovement; }

// The worse, the more; 0: none.
int warning(baselines::VerdictKind kind) {
  if (kind == kRegression) return 3;
  if (kind == kInconclusive) return 2;
  return kind == kImprovement ? 1 : 0;
}

}  // namespace

// How many processes beyond the minimum it should come to, as far as is known by now.
int ExtensionPlan::wanted(const State& benchmark) const {
  // Whatever failed since is invalid for good.
  if (!benchmark.first_doubt || benchmark.kind == kInvalid) return 0;
  const bool was_suspicious = is_change(*benchmark.first_doubt);
  if (was_suspicious && benchmark.extensions < confirmation_) return confirmation_;
  // After just the confirmation a change is confirmed. After more it is one that looked undecided
  // before, and stopping now would be stopping because it looks changed.
  const bool is_confirmed =
      was_suspicious && benchmark.extensions == confirmation_ && is_change(benchmark.kind);
  return warning(benchmark.kind) > 0 && !is_confirmed ? most_ : 0;
}

void ExtensionPlan::update(const std::string& name, const baselines::Verdict& verdict) {
  State& benchmark = suite_[name];
  benchmark.kind = first_sight(verdict);
  // A control's code is the same on both sides: nothing about it is open.
  const bool raises_doubt =
      warning(verdict.kind) > 0 && !verdict.is_control && !verdict.reason.machine_hides_it;
  if (!benchmark.first_doubt && raises_doubt) benchmark.first_doubt = benchmark.kind;
}

ExtensionRound ExtensionPlan::next(const std::vector<baselines::Verdict>& verdicts) {
  std::map<std::string, const baselines::Verdict*> worst;
  for (const baselines::Verdict& verdict : verdicts) {
    const auto [found, inserted] = worst.try_emplace(verdict.benchmark, &verdict);
    if (warning(first_sight(verdict)) > warning(first_sight(*found->second)))
      found->second = &verdict;
  }
  for (const auto& [name, verdict] : worst) update(name, *verdict);
  ExtensionRound round;
  for (const auto& [name, benchmark] : suite_) {
    if (benchmark.extensions >= wanted(benchmark)) continue;
    round.benchmarks.push_back(name);
    const bool is_suspicious =
        benchmark.kind == kRegression || benchmark.first_doubt == kRegression;
    if (is_suspicious && benchmark.extensions < kLeastConfirmation) {
      round.unconfirmed.push_back(name);
    }
  }
  return round;
}

void ExtensionPlan::count_round(const std::vector<std::string>& measured) {
  for (const std::string& name : measured) ++suite_.at(name).extensions;
}

}  // namespace fusegate::ci
