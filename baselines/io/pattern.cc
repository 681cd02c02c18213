#include "baselines/io/pattern.h"

#include <fmt/format.h>
#include <re2/stringpiece.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace fusegate::baselines {
namespace {

constexpr std::size_t kLongestPattern = 128 << 10;

re2::RE2::Options options() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_dot_nl(true);
  options.set_never_capture(true);
  options.set_log_errors(false);
  return options;
}

// RE2 limits the memory of what it compiles, but not what reading takes: 64,000 of "a?" took 28 s,
// 14,000 of "a{0,1000}" 1.9 GB.
constexpr std::ptrdiff_t kMostRepetitions = 1000, kMostCounted = 20;

std::string_view checked(std::string_view text) {
  const auto number_of = [text](std::string_view operators) {
    return std::ranges::count_if(text, [&](char c) { return operators.find(c) != operators.npos; });
  };
  if (text.size() <= kLongestPattern && number_of("*+?{") <= kMostRepetitions &&
      number_of("{") <= kMostCounted) {
    return text;
  }
  throw std::invalid_argument(fmt::format(
      "the regular expression \"{}...\" is too large: at most {} KiB and {} repetitions "
      "are possible, {} of them counted",
      text.substr(0, 40), kLongestPattern >> 10, kMostRepetitions, kMostCounted));
}

// Newer versions of RE2 take Abseil's string_view, which need not be the standard's.
re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Pattern::Pattern(std::string_view text) : compiled_(piece(checked(text)), options()) {
  if (compiled_.ok()) return;
  throw std::invalid_argument(
      fmt::format("\"{}\" is not a regular expression: {}", text, compiled_.error()));
}

bool Pattern::fits(std::string_view name) const {
  return re2::RE2::PartialMatch(piece(name), compiled_);
}

}  // namespace fusegate::baselines
