// A line on stderr behind the program's name: fusegate_bench, or a user's own program that is built
// on the library. Control characters are escaped.
#pragma once

#include <errno.h>  // program_invocation_short_name
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "baselines/io/printable.h"

namespace fusegate::bench {

// Of several ranks, the first speaks for all.
inline bool logs_warnings = true;

template <typename... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  if (!logs_warnings) return;
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name,
             baselines::printable(fmt::format(text, std::forward<Args>(args)...)));
}

}  // namespace fusegate::bench
