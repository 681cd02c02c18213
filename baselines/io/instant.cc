#include "baselines/io/instant.h"

#include <charconv>

namespace fusegate::baselines {
namespace {

// Takes fixed parts from the front of a text; once one does not fit, nothing does.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}

  int number(std::size_t digits, int least, int most) {
    int value = 0;
    const char* end = rest_.data() + std::min(digits, rest_.size());
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    fits_ = fits_ && rest_.size() >= digits && rest_.front() != '-' && error == std::errc() &&
            stop == end && least <= value && value <= most;
    rest_.remove_prefix(std::min(digits, rest_.size()));
    return value;
  }
  // One character of those.
  char one_of(std::string_view characters) {
    fits_ = fits_ && !rest_.empty() && characters.find(rest_.front()) != characters.npos;
    if (!fits_) return '\0';
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }
  void skip_fraction() {
    if (!rest_.starts_with('.')) return;
    rest_.remove_prefix(1);
    rest_.remove_prefix(std::min(rest_.find_first_not_of("0123456789"), rest_.size()));
  }
  bool at_end() const { return rest_.empty(); }
  bool fit() const { return fits_; }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

std::chrono::minutes take_zone(Parts& parts) {
  using std::chrono::hours;
  using std::chrono::minutes;
  if (parts.at_end()) return minutes(0);
  const char sign = parts.one_of("Z+-");
  if (sign == 'Z' || !parts.fit()) return minutes(0);
  const int hour = parts.number(2, 0, 14);
  parts.one_of(":");
  const minutes offset = hours(hour) + minutes(parts.number(2, 0, 59));
  return sign == '-' ? -offset : offset;
}

}  // namespace

std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text) {
  namespace chrono = std::chrono;
  Parts parts(text);
  const chrono::year year(parts.number(4, 1, 9999));
  parts.one_of("-");
  const chrono::month month(static_cast<unsigned>(parts.number(2, 1, 12)));
  parts.one_of("-");
  const chrono::day day(static_cast<unsigned>(parts.number(2, 1, 31)));
  parts.one_of("T ");
  const chrono::hours hours(parts.number(2, 0, 23));
  parts.one_of(":");
  const chrono::minutes minutes(parts.number(2, 0, 59));
  parts.one_of(":");
  const chrono::seconds seconds(parts.number(2, 0, 60));  // a leap second
  parts.skip_fraction();
  const chrono::minutes zone = take_zone(parts);
  const chrono::year_month_day date(year, month, day);
  if (!parts.fit() || !parts.at_end() || !date.ok()) return std::nullopt;
  return chrono::sys_days(date) + hours + minutes + seconds - zone;
}

}  // namespace fusegate::baselines
