// A calibration as a file: JSON beside the baselines, laid out for review as they are, one line a
// benchmark. docs/schema/calibration.schema.json has its keys. Of "rules" there is one, of which
// same_card alone is filled; files written before have more. The gate reads "between_card"
// (card_differences.h).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "baselines/calibration/calibration.h"

namespace fusegate::baselines {

inline constexpr int kCalibrationSchemaVersion = 1;

// The file's text, the same for the same calibration; numbers have four significant digits.
std::string calibration_text(const Calibration& calibration);

// By benchmark, the relative standard deviation of time between the processes of a card. Throws
// InputError naming file and field.
std::map<std::string, double> read_spreads(const std::filesystem::path& calibration);

// store/<device slug>/<suite slug>.calibration.json
std::filesystem::path calibration_path(const std::filesystem::path& store,
                                       const Environment& environment, const std::string& suite);

}  // namespace fusegate::baselines
