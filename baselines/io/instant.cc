#include "baselines/io/instant.h"

#include <algorithm>

namespace fusegate::baselines {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Takes a text apart from its start; once something is missing, all that follows is.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int number(std::size_t digits) {
    int value = 0;
    fits_ =
        fits_ && rest_.size() >= digits && std::ranges::all_of(rest_.substr(0, digits), is_digit);
    for (std::size_t i = 0; fits_ && i < digits; ++i) value = 10 * value + (rest_[i] - '0');
    if (fits_) rest_.remove_prefix(digits);
    return value;
  }
  // One of them; NUL where it is none, and that is no fault of the text yet.
  char any_of(std::string_view choices) {
    if (!fits_ || rest_.empty() || choices.find(rest_.front()) == choices.npos) return '\0';
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }
  void require(std::string_view choices) { fits_ = any_of(choices) != '\0' && fits_; }
  void skip_digits() {
    rest_.remove_prefix(
        static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_digit) - rest_.begin()));
  }
  bool has_fitted() const { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

}  // namespace

// std::chrono::parse() would read all of this; g++ has it from 14 on. Not <regex>, whose matching
// takes a frame of the stack a character.
std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text) {
  using namespace std::chrono;
  Scanner scanner(text);
  const auto two_after = [&](std::string_view separators) {
    scanner.require(separators);
    return scanner.number(2);
  };
  const int of_year = scanner.number(4);
  const int of_month = two_after("-");
  const int of_day = two_after("-");
  const int hour = two_after("T ");
  const int minute = two_after(":");
  const int second = two_after(":");
  if (scanner.any_of(".") != '\0') scanner.skip_digits();
  const char sign = scanner.any_of("Z+-");
  const bool has_zone = sign == '+' || sign == '-';
  const int zone_hour = has_zone ? scanner.number(2) : 0;
  const int zone_minute = has_zone ? two_after(":") : 0;
  const year_month_day date(year(of_year), month(static_cast<unsigned>(of_month)),
                            day(static_cast<unsigned>(of_day)));
  const minutes zone = hours(zone_hour) + minutes(zone_minute);
  const bool in_range = date.ok() && hour < 24 && minute < 60 && second <= 60 && zone < hours(15) &&
                        zone_minute < 60;  // 60: a leap second
  if (!scanner.has_fitted() || !in_range) return std::nullopt;
  const seconds time = hours(hour) + minutes(minute) + seconds(second);
  return sys_days(date) + time - (sign == '-' ? -zone : zone);
}

}  // namespace fusegate::baselines
