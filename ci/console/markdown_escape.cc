#include "ci/console/markdown_escape.h"

#include <fmt/format.h>

namespace fusegate::ci {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string markdown_code(std::string_view text) {
  // A code span shows everything but these as it is; with one of them, text is the safer way. Where
  // a pipe stands in a table's cell, "\|" is a pipe even in code; behind a backslash it would not
  // be.
  const bool plain = text.find_first_of("`\\") == std::string_view::npos && !text.empty() &&
                     text.front() != ' ' && text.back() != ' ';
  if (!plain) return "<code>" + markdown_text(text) + "</code>";
  std::string code = "`";
  for (const char c : text) {
    if (c == '|') code += '\\';
    code += is_control(c) ? ' ' : c;
  }
  return code + "`";
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_{}[]<>()#!|~&\"'$^";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_control(c)) {
      escaped += ' ';
    } else if (c == '@') {
      escaped +=
          "@\u200b";  // a zero-width space: GitHub looks for mentions after it has read entities
    } else if (c == ':' && text.substr(i, 3) == "://") {
      escaped += "&#58;";
    } else if (kMarkup.find(c) != std::string_view::npos) {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace fusegate::ci
