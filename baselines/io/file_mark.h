// Recognises the kind of a JSON file by a key at its top: "fusegate_baseline" in a baseline.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// The first key of an object that is one of them; empty where the text is no object or has none. A
// run file is known by its first key, "context", and is not read further: it may be of many
// megabytes.
std::string first_mark(std::string_view text, std::span<const std::string_view> marks);
bool has_mark(std::string_view text, std::string_view mark);

}  // namespace fusegate::baselines
