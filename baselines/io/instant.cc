#include "baselines/io/instant.h"

#include <regex>

namespace fusegate::baselines {

// std::chrono::parse() would read all of this; g++ has it from 14 on.
std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text) {
  using namespace std::chrono;
  static const std::regex kFormat(R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d*)?)"
                                  R"((Z|([+-])(\d\d):(\d\d))?)");
  std::match_results<std::string_view::const_iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, kFormat)) return std::nullopt;
  const auto number = [&](std::size_t part) {
    return parts[part].matched ? std::stoi(parts[part]) : 0;
  };
  const year_month_day date(year(number(1)), month(static_cast<unsigned>(number(2))),
                            day(static_cast<unsigned>(number(3))));
  const seconds time = hours(number(4)) + minutes(number(5)) + seconds(number(6));
  const minutes zone = hours(number(10)) + minutes(number(11));
  const bool in_range = date.ok() && number(4) < 24 && number(5) < 60 && number(6) <= 60 &&
                        zone < hours(15) && number(11) < 60;  // 60: a leap second
  if (!in_range) return std::nullopt;
  return sys_days(date) + time - (parts[9] == "-" ? -zone : zone);
}

}  // namespace fusegate::baselines
