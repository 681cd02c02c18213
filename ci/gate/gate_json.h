// The gate's result for other programs: the file of `fusegate gate --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "ci/gate/judging.h"

namespace fusegate::ci {

// {"exit_code", "headline", "environment_differences", "notes", "counts", "rule", "families",
// "kernels", "unmet_expectations": [{"benchmark", "expectation"
// (baselines/launches/expectation.h)}], "staleness", "anchor", "creep", "replay"
// (replay_section.h), "verdicts": [...]} NaN is written as null.
nlohmann::json gate_json(const Judgement& judgement, const baselines::Run& candidate);

}  // namespace fusegate::ci
