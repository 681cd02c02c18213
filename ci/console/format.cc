#include "ci/console/format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

// `digits` significant digits in plain notation, trailing zeros kept so that columns line up. The
// exponent is read after rounding: 999.96 has three digits before the point, its rounded form four.
std::string significant(double value, int digits) {
  if (value == 0) return "0";
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

// With its sign, in percent: "+1.23" of 0.0123. What rounds to nothing got neither smaller nor
// larger: "+0.00" and never "-0.00".
std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.2f}", fraction * 100);
  return text == "-0.00" ? "+0.00" : text;
}

struct Unit {
  double size;
  std::string_view name;
};

// In the largest unit that the value reaches, else in the last of them.
template <std::size_t kCount>
std::string in_unit(double value, const std::array<Unit, kCount>& units) {
  if (!std::isfinite(value)) return "-";
  // 999.96 ns would round to "1000. ns": a unit starts where rounding reaches it.
  const auto fits = std::find_if(units.begin(), units.end() - 1, [&](const Unit& unit) {
    return std::abs(value) >= unit.size * 0.99995;
  });
  return fmt::format("{} {}", significant(value / fits->size, 4), fits->name);
}

}  // namespace

std::string format_time_ns(double time_ns) {
  return in_unit(time_ns, std::array<Unit, 4>{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}});
}

std::string format_energy_j(double energy_j) {
  return in_unit(energy_j, std::array<Unit, 3>{{{1, "J"}, {1e-3, "mJ"}, {1e-6, "uJ"}}});
}

std::string format_bytes(double bytes) {
  return in_unit(bytes, std::array<Unit, 4>{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}});
}

std::string format_time_change_ns(double change_ns) {
  if (!std::isfinite(change_ns)) return "-";
  return (change_ns < 0 ? '-' : '+') + format_time_ns(std::abs(change_ns));
}

std::string format_effect(double effect) {
  return std::isfinite(effect) ? signed_percent(effect) + " %" : "-";
}

std::string format_magnitude(double effect) {
  return std::isfinite(effect) ? fmt::format("{:.2f} %", std::abs(effect) * 100) : "-";
}

std::string format_interval(const baselines::Interval& interval) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "-";
  return fmt::format("[{}, {}] %", signed_percent(interval.low), signed_percent(interval.high));
}

std::string format_share(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const std::string percent = fmt::format("{:.1f}", fraction * 100);
  return (percent == "-0.0" ? "0.0" : percent) + " %";
}

std::string format_fraction(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.3g} %", fraction * 100) : "-";
}

std::string format_rate(double value) { return std::isfinite(value) ? significant(value, 3) : "-"; }

std::string format_factor(double factor) {
  return std::isfinite(factor) ? fmt::format("{:.2f}", factor) : "-";
}

std::string format_launches(double launches) {
  return std::isfinite(launches) ? fmt::format("{:g}", launches) : "-";
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_count(std::size_t count, std::string_view singular) {
  const std::string_view plural = singular.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : plural);
}

double parse_fraction(std::string_view option, std::string_view text) {
  const bool percent = text.ends_with('%');
  std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    throw baselines::InputError(
        option, "", fmt::format("\"{}\" is not a fraction such as 0.005 or 0.5%", text));
  }
  if (percent) value /= 100;
  // Not written as value <= 0, so that NaN is refused too.
  if (!(value > 0 && value < 1)) {
    throw baselines::InputError(option, "", fmt::format("{} is not between 0 and 1", text));
  }
  return value;
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string format_instant(std::chrono::system_clock::time_point when) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
}

}  // namespace fusegate::ci
