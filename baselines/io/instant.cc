#include "baselines/io/instant.h"

#include <re2/re2.h>
#include <re2/stringpiece.h>

#include <string>

namespace fusegate::baselines {

// std::chrono::parse() would read all of this; g++ has it from 14 on. Not <regex>, whose matching
// takes a frame of the stack a character.
std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text) {
  using namespace std::chrono;
  static const re2::RE2 kInstant(
      R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.\d*)?(?:Z|([+-]\d\d:\d\d))?)");
  static const re2::RE2 kZone("([+-])(..):(..)");
  int of_year = 0, of_month = 0, of_day = 0, hour = 0, minute = 0, second = 0;
  std::string of_zone, sign;
  int zone_hour = 0, zone_minute = 0;
  // Newer versions of RE2 take Abseil's string_view, which need not be the standard's.
  const re2::StringPiece whole(text.data(), text.size());
  if (!re2::RE2::FullMatch(whole, kInstant, &of_year, &of_month, &of_day, &hour, &minute, &second,
                           &of_zone)) {
    return std::nullopt;
  }
  re2::RE2::FullMatch(of_zone, kZone, &sign, &zone_hour, &zone_minute);
  const year_month_day date(year(of_year), month(static_cast<unsigned>(of_month)),
                            day(static_cast<unsigned>(of_day)));
  const minutes zone = hours(zone_hour) + minutes(zone_minute);
  const bool in_range = date.ok() && hour < 24 && minute < 60 && second <= 60 && zone < hours(15) &&
                        zone_minute < 60;  // 60: a leap second
  if (!in_range) return std::nullopt;
  const seconds time = hours(hour) + minutes(minute) + seconds(second);
  return sys_days(date) + time - (sign == "-" ? -zone : zone);
}

}  // namespace fusegate::baselines
