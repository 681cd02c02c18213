// A night as one line of JSON, as `fusegate export --format nights` writes it and `history import`
// reads it (docs/schema/night.schema.json). What is not known is left out.
#pragma once

#include <string>
#include <string_view>

#include "baselines/history/night.h"

namespace fusegate::baselines {

inline constexpr int kNightSchemaVersion = 1;
// The mark of a line (baselines/io/file_mark.h).
inline constexpr const char* kNightMark = "fusegate_night";

// Without the newline.
std::string night_line(const Night& night);
// source: the file and the line's number. Throws InputError naming the field.
Night parse_night(std::string_view line, const std::string& source);

}  // namespace fusegate::baselines
