// Two traces side by side, by name and category: what only one of them has, and where calls or GPU
// time differ. A trace is one look and no measurement, so this tells and judges nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/traces/summary.h"

namespace fusegate::baselines {

enum class TraceDifference { kOnlyInA, kOnlyInB, kCalls, kTime, kNone };

// "only in A", "calls", ...; empty for none.
std::string_view difference_name(TraceDifference difference);

// Per step (a trace without "ProfilerStep#N" ranges is one step), all zero where a side lacks it.
struct TraceFigures {
  double calls = 0;
  double cpu_ns = 0;
  double cuda_ns = 0;
};

struct TraceDiffRow {
  std::string name;
  TraceCategory category = TraceCategory::kOperator;
  TraceDifference difference = TraceDifference::kNone;
  TraceFigures a{}, b{};
};

// The largest difference in GPU time first, then in calls, then A's order and B's.
// min_difference: GPU time differs where it does by more than this fraction of the longer. Host
// time is told and never makes a difference: it depends on everything else on the machine.
std::vector<TraceDiffRow> diff_traces(const TraceSummary& a, const TraceSummary& b,
                                      double min_difference);

}  // namespace fusegate::baselines
