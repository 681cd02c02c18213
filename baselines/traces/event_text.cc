#include "baselines/traces/event_text.h"

#include <charconv>
#include <cmath>
#include <string>

namespace fusegate::baselines {
namespace {

constexpr std::int64_t kNanosecondsInMicrosecond = 1000;

// Exponents come from programs that write doubles; a double's precision is then all there is.
std::optional<std::int64_t> of_double(std::string_view text) {
  const double ns = std::strtod(std::string(text).c_str(), nullptr) * kNanosecondsInMicrosecond;
  if (!(std::abs(ns) < 9.2e18)) return std::nullopt;
  return std::llround(ns);
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) {
  if (text.find_first_of("eE") != text.npos) return of_double(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  std::string_view fraction = text.substr(std::min(text.size(), whole.size() + 1)).substr(0, 3);
  std::int64_t microseconds = 0;
  if (std::from_chars(whole.begin(), whole.end(), microseconds).ec != std::errc() ||
      std::abs(microseconds) > 9'200'000'000'000'000) {
    return std::nullopt;
  }
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < 3; ++i) ns = 10 * ns + (i < fraction.size() ? fraction[i] - '0' : 0);
  const bool negative = text.starts_with('-');  // "-0.5" too, whose whole part has no sign
  return microseconds * kNanosecondsInMicrosecond + (negative ? -ns : ns);
}

}  // namespace fusegate::baselines
