#include "baselines/io/pattern.h"

#include <fmt/format.h>

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

std::string_view checked(std::string_view text) {
  if (text.size() <= kLongestPattern) return text;
  throw std::invalid_argument(fmt::format("the regular expression \"{}\" is too large", text));
}

}  // namespace

Pattern::Pattern(std::string_view text) : compiled_(checked(text), options()) {
  if (compiled_.ok()) return;
  throw std::invalid_argument(
      fmt::format("\"{}\" is not a regular expression: {}", text, compiled_.error()));
}

bool Pattern::fits(std::string_view name) const { return re2::RE2::PartialMatch(name, compiled_); }

}  // namespace fusegate::baselines
