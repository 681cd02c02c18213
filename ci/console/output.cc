#include "ci/console/output.h"

#include <algorithm>

namespace fusegate::ci {
namespace {

// With an escape where GitHub's runner would take the line for a command of a workflow
// (https://github.com/actions/runner, ActionCommand.cs): "::" first in it but for blanks, "##["
// anywhere.
std::string without_command(std::string text, bool is_line_start) {
  for (std::size_t at = 0; (at = text.find("##[", at)) != text.npos;)
    text.replace(at + 2, 1, "\\x5b");
  const std::size_t first = text.find_first_not_of(" \t");
  if (is_line_start && first != text.npos && text.compare(first, 2, "::") == 0) {
    text.replace(first, 1, "\\x3a");
  }
  return text;
}

}  // namespace

std::string Output::shown(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::string_view colour = style_.has_colours ? leading_colour(text) : "";
    const std::size_t length =
        colour.empty() ? std::min(text.find('\x1b', 1), text.size()) : colour.size();
    const std::string_view part = text.substr(0, length);
    result += colour.empty() ? baselines::printable_lines(part) : std::string(part);
    text.remove_prefix(length);
  }
  return result;
}

void Output::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    *stream_ << without_command(shown(line), is_line_start_);
    const bool is_ended = end < text.size();
    if (is_ended) *stream_ << '\n';
    is_line_start_ = is_ended || (is_line_start_ && line.find_first_not_of(" \t") == line.npos);
    text.remove_prefix(end + (is_ended ? 1 : 0));
  }
}

void Output::status_line(std::string_view text, std::size_t columns) {
  std::string shown = baselines::printable(text);
  // One that wraps cannot be overwritten; the last column stays free, since some terminals wrap
  // there already.
  if (shown.size() >= columns) shown.resize(std::max<std::size_t>(columns, 1) - 1);
  *stream_ << "\r\x1b[K" << shown << std::flush;
}

}  // namespace fusegate::ci
