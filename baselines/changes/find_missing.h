// What stopped reporting. A night, a benchmark, a card or a machine is expected at its usual
// interval, as the nights so far show it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/history/missing_data.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

// Of nights, also those that were missing once and came again; of all else, what is missing at
// now_unix_s. What has not been seen for four weeks is retired, and not reported.
std::vector<MissingData> missing_data(std::span<const Night> nights, std::int64_t now_unix_s);

}  // namespace fusegate::baselines
