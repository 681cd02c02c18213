// Text that others wrote (names, reasons, what a file holds) as it may be printed. A terminal acts
// on control characters, a log splits lines at them, and a viewer turns text round at marks of
// direction: each is written as an escape instead, "\x1b", "\n" or "\u202e". What is printable
// already stays as it is, so that doing it twice does no harm.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::baselines {

// One line: also newlines and tabs are escaped, and bytes that are no UTF-8.
std::string printable(std::string_view text);

// Text that is laid out in lines: newlines and tabs stay.
std::string printable_lines(std::string_view text);

// Of the text of a JSON file: bytes that are no UTF-8 become "\\xb0", of which a reader makes \xb0.
// Counts them.
std::string with_escaped_bytes(std::string_view text, std::size_t* count);

// One line of at most that many bytes: longer text loses its middle.
std::string printable_excerpt(std::string_view text, std::size_t most);

}  // namespace fusegate::baselines
