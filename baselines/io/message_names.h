// Names in a message: the first of many, and what a mistyped one may have been meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

// "a, b, c and 4 more": the first names, most of them at most.
std::string first_of(const std::vector<std::string>& names, std::string_view separator = ", ",
                     std::size_t most = 3);

// How many characters must be inserted, deleted or replaced to make the one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the names, the first of several; empty where none is near: where more than a third
// of the word would have to change.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

// "\"--candiate\" is not a flag of gate; the nearest is --candidate"
std::string mistyped_text(std::string_view word, std::string_view what,
                          const std::vector<std::string>& names);

}  // namespace fusegate::baselines
