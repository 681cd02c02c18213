#include "baselines/io/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace fusegate::baselines {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
  bool is_utf8 = true;
};

bool is_continuation(char c) { return (c & 0xC0) == 0x80; }

// The one at the start of the text, which is not empty. Overlong forms, surrogates and what is
// beyond Unicode are no UTF-8 (RFC 3629).
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.code = lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Character invalid{.code = lead, .is_utf8 = false};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return invalid;
  std::uint32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return invalid;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = 0xD800 <= code && code <= 0xDFFF;
  if (code < kLeast[length] || is_surrogate || code > 0x10FFFF) return invalid;
  return {.code = code, .length = length};
}

// C0, C1 and DEL; marks, embeddings, overrides and isolates of direction; separators of lines and
// paragraphs, at which some viewers end a line.
bool is_harmful(std::uint32_t code) {
  const auto within = [code](std::uint32_t low, std::uint32_t high) {
    return low <= code && code <= high;
  };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x061C || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069);
}

std::string escape(const Character& character) {
  switch (character.code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return character.code > 0x7F && character.is_utf8 ? fmt::format("\\u{:04x}", character.code)
                                                        : fmt::format("\\x{:02x}", character.code);
  }
}

std::string escaped(std::string_view text, std::string_view unescaped) {
  const auto is_plain = [](char c) { return 0x20 <= c && c < 0x7F; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool stays = unescaped.find(text[0]) != unescaped.npos ||
                       (character.is_utf8 && !is_harmful(character.code));
    result += stays ? std::string(text.substr(0, character.length)) : escape(character);
    text.remove_prefix(character.length);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, ""); }

std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

std::string with_escaped_bytes(std::string_view text, std::size_t* count) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.is_utf8) {
      result += text.substr(0, character.length);
    } else {
      result += fmt::format("\\\\x{:02x}", character.code);
      ++*count;
    }
    text.remove_prefix(character.length);
  }
  return result;
}

std::string printable_excerpt(std::string_view text, std::size_t most) {
  constexpr std::string_view kGap = " ... ";
  // The middle goes first: of a text of 100 MB no copy is made.
  if (text.size() > most) {
    const std::size_t kept = (most - kGap.size()) / 2;
    std::size_t tail = text.size() - kept;
    while (tail < text.size() && is_continuation(text[tail])) ++tail;
    std::size_t head = kept;
    while (head > 0 && is_continuation(text[head])) --head;
    return printable(text.substr(0, head)) + std::string(kGap) + printable(text.substr(tail));
  }
  return printable(text);
}

}  // namespace fusegate::baselines
