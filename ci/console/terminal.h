// What the terminal of a descriptor can show.
#pragma once

#include "ci/console/tone.h"

namespace fusegate::ci {

bool is_terminal(int descriptor);

// $COLUMNS, else the terminal's width, else 80.
std::size_t terminal_columns(int descriptor);

// The style of text for the descriptor. Without a terminal: lines of any width, no colours. A
// terminal has colours unless $NO_COLOR is set (https://no-color.org) or $TERM is "dumb".
TextStyle text_style(int descriptor);

}  // namespace fusegate::ci
