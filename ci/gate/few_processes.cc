#include "ci/gate/few_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "baselines/comparing/rule.h"

namespace fusegate::ci {
namespace {

using baselines::kFewestProcesses;

// A protocol that names another tool is of runs that this program did not measure.
bool is_measured_by_us(const baselines::Run& run) {
  return !run.provenance.suite.empty() && !run.provenance.protocol.contains("tool");
}

}  // namespace

// All is measured: what is left out as identical would be missing in the new baseline.
std::string renewal_text(const baselines::Run& baseline) {
  const bool several = baselines::cards_of(baseline).size() > 1;
  if (!is_measured_by_us(baseline)) {
    return fmt::format("Record it again, of {} processes{}: fusegate accept RUN --reason TEXT",
                       kFewestProcesses, several ? " on each card" : "");
  }
  return fmt::format(
      "Record it again{}: fusegate run --suite {} --invocations {} --all --out RUN && fusegate "
      "accept RUN --reason TEXT",
      several ? ", a RUN on each card" : "", baseline.provenance.suite, kFewestProcesses);
}

namespace {

std::string text_of(const baselines::Run& baseline, int processes, bool on_each_card) {
  if (processes == 0 || processes >= kFewestProcesses) return "";
  return fmt::format(
      "The baseline has {} process{}{}; at least {} are needed to report a regression. {}",
      processes, processes == 1 ? "" : "es", on_each_card ? " on each card" : "", kFewestProcesses,
      renewal_text(baseline));
}

}  // namespace

int fewest_processes_of_a_card(const baselines::Run& run) {
  std::map<int, int> most;  // by card
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    std::map<int, int> count;
    for (const baselines::InvocationSummary& summary : series.invocations) ++count[summary.card];
    for (const auto& [card, processes] : count) most[card] = std::max(most[card], processes);
  }
  const auto fewest = std::ranges::min_element(most, {}, &std::pair<const int, int>::second);
  return fewest == most.end() ? 0 : fewest->second;
}

std::string few_processes_text(const baselines::Run& baseline) {
  return text_of(baseline, fewest_processes_of_a_card(baseline), true);
}

std::string few_processes_text(const baselines::Run& baseline,
                               const std::vector<baselines::Verdict>& verdicts) {
  int compared = 0;
  for (const baselines::Verdict& verdict : verdicts) {
    compared = std::max(compared, verdict.compared_in_baseline);
  }
  if (compared == 0) return few_processes_text(baseline);
  return text_of(baseline, compared, baselines::cards_of(baseline).size() > 1);
}

}  // namespace fusegate::ci
