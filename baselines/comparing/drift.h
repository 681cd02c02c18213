// Control benchmarks (baselines/record/process.h) part "the machine moved" from "the code
// moved": where one differs between two runs, the machine does: clock, temperature, memory. A row
// is one where the baseline says so; what a candidate says of itself would loosen the rule that
// judges it. A row of identical code is one too. Where there are many of both, they show what the
// machine did to every row (machine_groups()); where there are few, nothing is blamed on the code
// unless it got slower by more than any of them.
#pragma once

#include <map>
#include <vector>

#include "baselines/comparing/comparison.h"

namespace fusegate::baselines {

using Drift = std::map<Quantity, Shift>;

// The largest difference among controls and identical code that differ from zero for certain: at 1
// % over all controls, all quantities and both directions together (Bonferroni). Marks those as
// moved.
Drift drift_of(std::vector<Comparison>& suite);

// Whether the row shows the machine alone. A control that is known to have other code, such
// as a GEMM of another algorithm, does not.
bool shows_machine_alone(const Comparison& comparison);

// Which rows a machine treats alike, a number each: by thirds of the suite's durations, and by
// FLOPs a byte below or above the suite's median, or unknown (counters "flops" and "min_bytes").
// Cards and sessions change short kernels otherwise than long ones, and memory's otherwise than
// arithmetic's.
std::vector<int> machine_groups(const std::vector<Comparison>& suite);

double mean_log_time(const Comparison& comparison);

}  // namespace fusegate::baselines
