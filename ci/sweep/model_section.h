// The models of a suite as a section of a report, and as JSON: the time of a layer and of a token,
// and what changed by what it costs there.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "baselines/gating/model_times.h"
#include "ci/document/document.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {

// Open is what changed; the times are folded. Empty without models.
Section model_section(const std::vector<baselines::ModelTimes>& models,
                      const RooflineTimes& rooflines);

// As docs/schema/verdicts.schema.json has it.
nlohmann::json models_json(const std::vector<baselines::ModelTimes>& models,
                           const RooflineTimes& rooflines);

}  // namespace fusegate::ci
