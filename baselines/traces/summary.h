// A trace by name, as torch.profiler's key_averages() sums it up: host rows (operators, ranges,
// calls, the profiler's overhead) and GPU rows (kernels, memory operations).
//
// CPU time of a host event is how long it took, its own (self) what it took beside what it
// encloses. CUDA time of an operator or range is what the GPU worked for all that was launched
// within it, its own what was launched with nothing else between. As in torch, a call's row has no
// CUDA time, and where a name encloses itself its totals count that time twice. Python frames and
// the GPU's side of ranges (gpu_user_annotation) have no rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

struct TraceRow {
  std::string name;
  TraceCategory category = TraceCategory::kOperator;
  std::size_t calls = 0;
  std::int64_t self_cpu_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t self_cuda_ns = 0;
  std::int64_t cuda_ns = 0;
};

// GPU work during which other work of its stream began and ended. Streams run one thing after the
// other, so that its duration is wrong, but for branches of a CUDA graph.
struct EnclosingWork {
  std::string name;
  std::int64_t duration_ns = 0;
  std::size_t enclosed = 0;
};

struct TraceSummary {
  std::vector<TraceRow> rows;  // in the order of the file
  std::size_t kernels = 0;
  std::size_t memory_operations = 0;
  std::size_t unowned = 0;   // of these, launched by no operator or range of the trace
  std::int64_t cuda_ns = 0;  // of all GPU work, summed: what ran at once counts twice
  std::int64_t cpu_ns = 0;   // of all host rows' own times
  std::size_t steps = 0;     // ranges "ProfilerStep#N", which make one row, "ProfilerStep*"
  TraceLosses lost{};
  std::optional<EnclosingWork> enclosing{};
};

TraceSummary summarize(const Trace& trace);

}  // namespace fusegate::baselines
