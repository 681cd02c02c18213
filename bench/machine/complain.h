// A line on stderr with the name of the program that says it: fusegate_bench, or a user's own that
// is built on the library. What may come from outside is escaped.
#pragma once

#include <errno.h>  // program_invocation_short_name
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "baselines/io/printable.h"

namespace fusegate::bench {

template <typename... Args>
void complain(fmt::format_string<Args...> text, Args&&... args) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name,
             baselines::printable(fmt::format(text, std::forward<Args>(args)...)));
}

}  // namespace fusegate::bench
