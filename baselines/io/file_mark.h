// Tells what kind of file a JSON text is, by a key at its top: "fusegate_baseline" in a baseline.
#pragma once

#include <string_view>

namespace fusegate::baselines {

// Whether the text is an object with that key. A run file is known by its first key, "context", and
// is not read further: it may be of many megabytes.
bool has_mark(std::string_view text, std::string_view mark);

}  // namespace fusegate::baselines
