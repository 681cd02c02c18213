#include "ci/claims/trace.h"

#include <algorithm>
#include <map>

#include "baselines/statistics/statistics.h"
#include "baselines/traces/owners.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

using Launched = std::vector<const baselines::TraceEvent*>;

// The step around an event, itself included; kNoEvent outside of any.
std::size_t step_of(const baselines::Trace& trace, const std::vector<std::size_t>& owner,
                    std::size_t event) {
  while (event != baselines::kNoEvent && !trace.events[event].name.starts_with(kStep))
    event = owner[event];
  return event;
}

std::map<std::size_t, Launched> kernels_by_step(const baselines::Trace& trace) {
  const std::vector<std::size_t> owner = baselines::owners(trace);
  std::map<std::size_t, Launched> steps;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const baselines::TraceEvent& event = trace.events[i];
    if (event.category == baselines::TraceCategory::kRange && event.name.starts_with(kStep))
      steps[i];
    if (event.category != baselines::TraceCategory::kKernel) continue;
    if (const std::size_t step = step_of(trace, owner, i); step != baselines::kNoEvent) {
      steps[step].push_back(&event);
    }
  }
  for (auto& [step, launched] : steps) {
    std::ranges::stable_sort(launched, {}, &baselines::TraceEvent::start_ns);
  }
  return steps;
}

}  // namespace

TraceSteps trace_steps(const baselines::Trace& trace) {
  const auto by_step = kernels_by_step(trace);
  TraceSteps result;
  result.steps = by_step.size();
  if (by_step.empty()) return result;
  const Launched& first = by_step.begin()->second;
  result.alike = std::ranges::all_of(by_step, [&](const auto& step) {
    return std::ranges::equal(step.second, first, {}, &baselines::TraceEvent::name,
                              &baselines::TraceEvent::name);
  });
  if (!result.alike) return result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<double> durations;
    for (const auto& [step, launched] : by_step) {
      durations.push_back(static_cast<double>(launched[i]->duration_ns));
    }
    result.kernels.push_back({first[i]->name, baselines::median(durations)});
  }
  return result;
}

std::vector<baselines::TraceRow> rows_with_prefix(const baselines::TraceSummary& summary,
                                                  std::string_view prefix) {
  std::vector<baselines::TraceRow> found;
  for (const baselines::TraceRow& row : summary.rows) {
    const bool host =
        row.category == baselines::TraceCategory::kOperator || baselines::is_call(row.category);
    if (host && row.name.starts_with(prefix)) found.push_back(row);
  }
  return found;
}

const baselines::TraceRow* find_operator(const baselines::TraceSummary& summary,
                                         std::string_view name) {
  const auto found = std::ranges::find_if(summary.rows, [&](const baselines::TraceRow& row) {
    return row.category == baselines::TraceCategory::kOperator && row.name == name;
  });
  return found == summary.rows.end() ? nullptr : &*found;
}

}  // namespace fusegate::ci
