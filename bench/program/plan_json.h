// The plan as JSON, for whoever measures other people's implementations by it (bench/peers):
//
//   {"fusegate": {...},  as context.fusegate of the run file: suite, seed, protocol, environment,
//    ... "work": [{"operation": "linear", "problems": [
//       {"name": "bf16/batch:1/seq:128/dim:768/hidden:3072", "dtype": "bf16",
//        "batch": 1, "seq": 128, "dim": 768, "hidden": 3072, "rows": 128, "error_bound": 0.01,
//        "inputs": [{"name": "x", "rows": 128, "cols": 768, "scale": 1.0}]}]}]}
//
// "work" is what the suite names, whatever this build and this device can compute of it. The
// protocol has a layout where the suite or a flag names one.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/machine/environment_probe.h"
#include "bench/measuring/recorder.h"
#include "bench/plan/plan.h"

namespace fusegate::bench {

nlohmann::json plan_json(const std::vector<SweptOperation>& work, const InvocationInfo& info,
                         const EnvironmentProbe& probe);

}  // namespace fusegate::bench
