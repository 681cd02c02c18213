// What a trace's steps should contain, as a user writes it down, and the check of a trace against
// it. A JSON file, of which every member may be left out:
//
//   {"kernels": [{"what": "GEMM", "pattern": "gemm|nvjet", "count": 3},
//                {"what": "gelu", "pattern": "[gG]elu", "least": 1, "most": 2}],
//    "memory_operations": {"most": 1},
//    "calls": [{"what": "occupancy query", "pattern": "cudaOccupancy", "most": 3}],
//    "launch_nothing": ["^aten::t$"]}
//
// Each number is of one step ("ProfilerStep#N"; a trace without them is one step), and every step
// must meet it. "count" is "least" and "most" at once; "least" is 0 where it is left out, "most"
// has no limit. With "kernels", each kernel of a step must fit one kind's pattern, and counts for
// the first that it fits. Patterns (baselines/io/pattern.h) are searched for in the name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "baselines/launches/expectation.h"
#include "baselines/traces/trace.h"

namespace fusegate::baselines {

struct StepExpectation {
  std::optional<std::vector<CountedNames>> kernels{};
  std::optional<CountRange> memory_operations{};
  std::vector<CountedNames> calls{};
  std::vector<std::string> launch_nothing{};  // patterns of operators' and ranges' names
};

// Throws InputError naming file and field: for an unknown member, a negative count, a "least" above
// its "most", a bad pattern, and an empty expectation.
StepExpectation parse_step_expectation(const JsonField& field);

// A part for each member that is expected; seen is of the first step that does not meet it, or of
// the first. A launch_nothing that matches no event of the trace is not met: nothing was checked.
TraceExpectation check_steps(const Trace& trace, const StepExpectation& expectation);

}  // namespace fusegate::baselines
