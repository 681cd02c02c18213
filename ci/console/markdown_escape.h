// Text from a run file as GitHub Markdown that shows it and does nothing else. Names and messages
// in a pull request's run are written by whoever wrote the pull request.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::ci {

// As code, fit for a table's cell.
std::string markdown_code(std::string_view text);

// As plain text in one line, fit for a table's cell: no markup, no HTML, nobody mentioned.
std::string markdown_text(std::string_view text);

}  // namespace fusegate::ci
