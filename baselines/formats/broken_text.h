// Texts that are not JSON and still useful.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::baselines {

// Google Benchmark and Python write NaN and Infinity, which JSON does not have. Makes strings of
// them, of the same length, so that readers report the field. Returns whether there was one.
bool quote_nonfinite(std::string& text);

// Whether the text is JSON that ends too early, as of a program that was killed while it wrote.
// True for an empty text.
bool ends_early(std::string_view text);

}  // namespace fusegate::baselines
