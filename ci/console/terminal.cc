#include "ci/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace fusegate::ci {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

std::size_t terminal_columns(int descriptor) {
  const std::string_view given = variable("COLUMNS");
  std::size_t columns = 0;
  std::from_chars(given.data(), given.data() + given.size(), columns);
  if (columns > 0) return columns;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

TextStyle text_style(int descriptor) {
  if (!is_terminal(descriptor)) return {};
  return {.columns = terminal_columns(descriptor),
          .has_colours = variable("NO_COLOR").empty() && variable("TERM") != "dumb"};
}

}  // namespace fusegate::ci
