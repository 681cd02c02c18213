// The gate's result for other programs: the file of `fusegate gate --json`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

inline constexpr const char* kVerdictsMark = "fusegate_verdicts";
// Within a version no key goes, and none changes its type, unit or meaning; keys are added
// (docs/verdicts.md).
inline constexpr int kVerdictsVersion = 1;

// As docs/schema/verdicts.schema.json has it. NaN is written as null. facts: of a run that was
// compared.
nlohmann::json gate_json(const GateFacts& facts);
// Where nothing was judged.
nlohmann::json gate_failure_json(const std::string& problem);

}  // namespace fusegate::ci
