// The plan as JSON, for whoever measures other people's implementations by it (bench/peers):
//
//   {"device_kind": "cuda",
//    "fusegate": {...},  as context.fusegate of the run file: suite, seed, protocol, environment,
//    ... "work": [{"operation": "linear", "implementations": ["addmm"], "problems": [
//       {"name": "bf16/batch:1/seq:128/dim:768/hidden:3072", "dtype": "bf16",
//        "batch": 1, "seq": 128, "dim": 768, "hidden": 3072, "rows": 128, "error_bound": 0.01,
//        "inputs": [{"name": "x", "rows": 128, "cols": 768, "scale": 1.0}]}]}],
//    "benchmarks": ["linear/addmm/bf16/batch:1/seq:128/dim:768/hidden:3072"], "refusals": []}
//
// "work" is what the suite names, whatever this build and this device can compute of it;
// "implementations" is empty where the suite names none. "benchmarks" is what this program would
// measure here, and "refusals" what it would leave out. The protocol has a layout where the suite
// or a flag names one.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/recorder.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

nlohmann::json plan_json(const std::vector<SweptOperation>& work, const Plan& plan,
                         const InvocationInfo& info, const EnvironmentProbe& probe);

}  // namespace fusegate::bench
