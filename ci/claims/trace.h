// What a profiler's trace launches a step: torch.profiler's "ProfilerStep#N" ranges, each one call
// of what is traced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/traces/summary.h"
#include "baselines/traces/trace.h"

namespace fusegate::ci {

struct StepKernel {
  std::string name;
  double duration_ns = 0;  // median over the steps
};

struct TraceSteps {
  std::size_t steps = 0;
  // In order of their start. Empty where the steps launch different kernels, or none.
  std::vector<StepKernel> kernels;
  bool alike = false;  // all steps launch the same kernels in the same order
};

// A trace without such ranges has no steps; what was launched outside of them is passed over.
TraceSteps trace_steps(const baselines::Trace& trace);

// Host rows (operators and calls) whose name begins so.
std::vector<baselines::TraceRow> rows_with_prefix(const baselines::TraceSummary& summary,
                                                  std::string_view prefix);
// The operator of that name; nullptr where the trace has none.
const baselines::TraceRow* find_operator(const baselines::TraceSummary& summary,
                                         std::string_view name);

}  // namespace fusegate::ci
