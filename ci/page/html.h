// Text as HTML that shows it and does nothing else, whoever wrote it, in an element as in an
// attribute within double quotes: printable (baselines/io/printable.h), one line.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::ci {

std::string escaped(std::string_view text);
// A browser may break the line after a slash or an underscore.
std::string escaped_name(std::string_view text);

// Of a picture: at most two decimals, and no more characters than it takes.
std::string coordinate(double value);

}  // namespace fusegate::ci
