// What says why a benchmark takes its time, as the page's model has it. NaN is written as null.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "baselines/record/run.h"
#include "ci/figures/crossover.h"
#include "ci/figures/floor.h"

namespace fusegate::ci {

// [{benchmark, stages: [{stage, kernels, memory_operations, sum_ns, own_ns, share}] or null,
// expectation (baselines/launches/expectation.h) or null}] of the benchmarks that have either. A
// stage is "" for what ran outside of any; the last one is null and stands for the gaps.
nlohmann::json profiles_json(const baselines::Run& run);

// {gemm_tflops: {dtype: {value, benchmark}}, copy_gbps: {value, benchmark} or null}
nlohmann::json ceilings_json(const FloorRates& rates);

// [{operation, dtype, dim, hidden, implementation, against, points: [{rows, ratio}], crossings:
// [{rows, before, after}], text}]
nlohmann::json crossovers_json(const std::vector<Crossover>& crossovers);

}  // namespace fusegate::ci
