// What a terminal that a descriptor leads to can show.
#pragma once

#include "ci/console/tone.h"

namespace fusegate::ci {

bool is_terminal(int descriptor);

// $COLUMNS, else what the terminal says, else 80.
std::size_t terminal_columns(int descriptor);

// Of text for the descriptor. What is no terminal takes lines of any width and no colours; a
// terminal has colours unless $NO_COLOR is set (https://no-color.org) or $TERM is "dumb".
TextStyle text_style(int descriptor);

}  // namespace fusegate::ci
