// JSON has no NaN: what is not known is null.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace fusegate::ci {

inline nlohmann::json json_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace fusegate::ci
