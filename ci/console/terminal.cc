#include "ci/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace fusegate::ci {
namespace {

// In the order of Tone: as it was, green, red, yellow, bold.
constexpr std::array<std::string_view, 5> kSequences{"\x1b[0m", "\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                     "\x1b[1m"};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string coloured(std::string text, Tone tone, const TextStyle& style) {
  if (!style.has_colours || tone == Tone::kPlain || text.empty()) return text;
  text.insert(0, kSequences.at(static_cast<std::size_t>(tone)));
  return text.append(kSequences.front());
}

std::string_view leading_colour(std::string_view text) {
  const auto* found = std::ranges::find_if(
      kSequences, [text](std::string_view sequence) { return text.starts_with(sequence); });
  return found == kSequences.end() ? "" : *found;
}

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
