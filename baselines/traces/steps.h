// The steps of a trace, and what each launched and called.
#pragma once

#include <vector>

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

// Whether it is the range of a step of torch.profiler's schedule.
bool is_step(const TraceEvent& event);

// What was launched and called within a step, in the order of the file; the trace must outlive it.
struct TraceStep {
  std::vector<const TraceEvent*> kernels, memory_operations, calls;

  void add(const TraceEvent& event);
};
// By the steps' ranges, in the order of the file. What was called or launched within the range, or
// by any thread in its time, belongs to a step; so does GPU work that began in its time, and of
// which no launch is known that belongs to one. What is outside of all is left out: the profiler's
// own setting up is there. None in a trace without such ranges.
std::vector<TraceStep> steps_of(const Trace& trace);

}  // namespace fusegate::baselines
