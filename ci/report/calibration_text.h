// A calibration for people.
#pragma once

#include <vector>

#include "baselines/calibration/calibration.h"
#include "ci/document/document.h"

namespace fusegate::ci {

std::vector<Section> calibration_document(const baselines::Calibration& calibration);

// "0.0912 %", of a relative standard deviation; "-" where it is not known.
std::string format_spread(double spread);

}  // namespace fusegate::ci
