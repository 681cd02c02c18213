// A calibration for people.
#pragma once

#include <vector>

#include "baselines/calibration/calibration.h"
#include "ci/calibrating/document.h"

namespace fusegate {

std::vector<Section> calibration_document(const Calibration& calibration);

// "0.0912 %", of a relative standard deviation; "-" where it is not known.
std::string format_spread(double spread);

}  // namespace fusegate
