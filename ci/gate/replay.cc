#include "ci/gate/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/judge.h"

namespace fusegate::ci {
namespace {

using baselines::BenchmarkSeries;
using baselines::KernelDiff;
using baselines::Run;
using baselines::Verdict;
using baselines::VerdictKind;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <typename T, typename Key>
std::map<std::string, const T*> by_name(const std::vector<T>& all, Key key) {
  std::map<std::string, const T*> found;
  for (const T& one : all) found.emplace(one.*key, &one);
  return found;
}

bool does_other_work(const BenchmarkSeries& stored, const BenchmarkSeries& replayed) {
  return baselines::code_is_known(stored) && baselines::code_is_known(replayed) &&
         !baselines::identical_code(stored, replayed);
}

bool is_on_both_sides(const Verdict& verdict) {
  return verdict.kind != VerdictKind::kNew && verdict.kind != VerdictKind::kMissing &&
         verdict.kind != VerdictKind::kInvalid && std::isfinite(verdict.estimates.in_time);
}

bool row_comes_first(const ReplayedRow& a, const ReplayedRow& b) {
  if (a.has_moved() != b.has_moved()) return a.has_moved();
  return std::abs(a.machine.estimates.in_time) > std::abs(b.machine.estimates.in_time);
}

}  // namespace

bool ReplayedRow::has_moved() const {
  return machine.kind == VerdictKind::kRegression || machine.kind == VerdictKind::kImprovement ||
         machine.reason.clock_moved || other_work;
}

Replay replay_of(Run stored, const Run& replayed, const baselines::GateResult& result,
                 const baselines::Rule& rule) {
  Replay replay{.stored = std::move(stored)};
  const Run& before = replay.stored;
  replay.differences = baselines::differences_between(before, replayed);
  replay.other_card = baselines::circumstances_of(before, replayed).other_card;
  // Identical code is never called, and what the machine did to it is the question here.
  baselines::Rule of_machine = rule;
  of_machine.asks_for_machine = true;
  const auto verdicts = baselines::judge(baselines::without_identities(before),
                                         baselines::without_identities(replayed), of_machine);
  const auto diffs = baselines::explain_all(before, replayed, verdicts, rule);
  const auto diff_of = by_name(diffs, &KernelDiff::benchmark);
  const auto judged = by_name(result.verdicts, &Verdict::benchmark);
  const auto sides_before = by_name(before.benchmarks, &BenchmarkSeries::name);
  const auto sides_after = by_name(replayed.benchmarks, &BenchmarkSeries::name);
  for (const Verdict& verdict : verdicts) {
    const std::string& name = verdict.benchmark;
    if (verdict.kind == VerdictKind::kMissing) replay.not_replayed.push_back(name);
    if (!is_on_both_sides(verdict)) continue;
    ReplayedRow row{.machine = verdict};
    row.code = judged.contains(name) ? judged.at(name)->estimates.in_time : kNone;
    row.product = (1 + verdict.estimates.in_time) * (1 + row.code) - 1;
    if (diff_of.contains(name)) row.diff = *diff_of.at(name);
    row.other_work = (row.diff && row.diff->launches_changed()) ||
                     does_other_work(*sides_before.at(name), *sides_after.at(name));
    replay.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(replay.rows, row_comes_first);
  return replay;
}

}  // namespace fusegate::ci
