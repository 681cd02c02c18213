// The gate's result for other programs: the file of `fusegate gate --json`.
#pragma once

#include <nlohmann/json.hpp>

#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

// As docs/schema/verdicts.schema.json has it. NaN is written as null. facts: of a run that was
// compared.
nlohmann::json gate_json(const GateFacts& facts);

}  // namespace fusegate::ci
