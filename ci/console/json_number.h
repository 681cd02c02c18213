// JSON has no NaN: what is not known is null.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "baselines/statistics/statistics.h"

namespace fusegate::ci {

inline nlohmann::json json_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

inline nlohmann::json json_interval(const baselines::Interval& interval) {
  return {{"low", json_number(interval.low)}, {"high", json_number(interval.high)}};
}

}  // namespace fusegate::ci
