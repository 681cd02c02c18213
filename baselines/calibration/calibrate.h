// Makes a calibration of a pool of runs.
#pragma once

#include "baselines/calibration/calibration.h"
#include "baselines/calibration/pool.h"

namespace fusegate::baselines {

// Fills all but the date. Throws InputError where no card has two processes.
Calibration calibrate(const CalibrationPool& pool, const CalibrationOptions& options);

}  // namespace fusegate::baselines
