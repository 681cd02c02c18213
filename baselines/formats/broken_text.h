// Texts that are no JSON, of which something can be read or said all the same.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::baselines {

// Google Benchmark and Python write NaN and Infinity, which JSON has not. Makes strings of these,
// as long as they were, so that whoever reads their field says that it is no number. Returns
// whether there was one.
bool quote_nonfinite(std::string& text);

// Whether nothing is wrong with the text but that it ends too early, as the file of a program does
// that was killed while it wrote. True of an empty one.
bool ends_early(std::string_view text);

}  // namespace fusegate::baselines
