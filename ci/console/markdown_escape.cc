#include "ci/console/markdown_escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "baselines/io/printable.h"

namespace fusegate::ci {
namespace {

bool is_www(std::string_view text) {
  return std::ranges::equal(text, std::string_view("www"), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

// Where a bare link begins, at its first character that can be written otherwise.
bool starts_link(std::string_view text, std::size_t i) {
  return text.substr(i, 3) == "://" || (text[i] == '.' && i >= 3 && is_www(text.substr(i - 3, 3)));
}

// GitHub takes an underscore within a word for nothing else.
bool is_within_word(std::string_view text, std::size_t i) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  return i > 0 && is_word(i - 1) && is_word(i + 1);
}

}  // namespace

std::string markdown_code(std::string_view raw) {
  const std::string text = baselines::printable(raw);
  // A code span shows everything but these as it is; with one of them, text is the safer way. Where
  // a pipe stands in a table's cell, "\|" is a pipe even in code; behind a backslash it would not
  // be.
  const bool plain = text.find_first_of("`\\") == text.npos && !text.empty() &&
                     text.front() != ' ' && text.back() != ' ';
  if (!plain) return "<code>" + markdown_text(text) + "</code>";
  std::string code = "`";
  for (const char c : text) {
    if (c == '|') code += '\\';
    code += c;
  }
  return code + "`";
}

std::string markdown_text(std::string_view raw) {
  const std::string text = baselines::printable(raw);
  // Parentheses, quotes and exclamation marks mean something beside brackets alone, which are here.
  constexpr std::string_view kMarkup = "\\`*_[]<>#|~&$";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '@') {
      escaped +=
          "@\u200b";  // a zero-width space: GitHub looks for mentions after it has read entities
    } else if (starts_link(text, i) ||
               (kMarkup.find(c) != kMarkup.npos && !(c == '_' && is_within_word(text, i)))) {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace fusegate::ci
