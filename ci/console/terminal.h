// What the terminal of a descriptor can show, and colours of text that is laid out for it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace fusegate::ci {

// What a cell's colour says, where a format has colours.
enum class Tone { kPlain, kGood, kBad, kUnsure, kStrong };

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

struct TextStyle {
  std::size_t columns = kAnyWidth;  // of a terminal; a log takes lines of any width
  bool has_colours = false;
};

// As a terminal colours it, by ECMA-48's "select graphic rendition".
std::string coloured(std::string text, Tone tone, const TextStyle& style);

// The sequence of coloured() that the text starts with; empty where it starts with none.
std::string_view leading_colour(std::string_view text);

bool is_terminal(int descriptor);

// $COLUMNS, else the terminal's width, else 80.
std::size_t terminal_columns(int descriptor);

// The style of text for the descriptor. Without a terminal: lines of any width, no colours. A
// terminal has colours unless $NO_COLOR is set (https://no-color.org) or $TERM is "dumb".
TextStyle text_style(int descriptor);

}  // namespace fusegate::ci
