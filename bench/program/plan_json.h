// The plan as JSON, for programs and tests that ask what would be measured:
//
//   {"fusegate": {...},  as context.fusegate of the run file: suite, seed, protocol, environment,
//    ... "benchmarks": ["linear/addmm/bf16/batch:1/...", ...], "work": [{"operation": "linear",
//    "problems": [
//       {"name": "bf16/batch:1/seq:128/dim:768/hidden:3072", "dtype": "bf16",
//        "axes": {"batch": 1, "seq": 128, "dim": 768, "hidden": 3072}, "error_bound": 0.01,
//        "inputs": [{"name": "x", "shape": [128, 768], "dtype": "bf16",
//                    "fill": {"kind": "uniform", "scale": 1.0, "center": 0.0}}],
//        "outputs": [{"name": "out", "shape": [128, 3072], "dtype": "bf16", "tolerance":
//        0.01}]}]}]}
//
// Inputs that are weights or exact have "is_weight" or "is_exact" too.
// "benchmarks" are those that it would measure, by --benchmark_filter. "work" has the problems that
// this build or device cannot compute too. The protocol has a layout
// kind where the suite or a flag names one.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/run_file_entries.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

nlohmann::json plan_json(const Plan& measured, const std::vector<SweptOperation>& work,
                         const ProcessInfo& info, const EnvironmentProbe& probe);

}  // namespace fusegate::bench
