#include "baselines/io/instant.h"

#include <gtest/gtest.h>

#include <string>

namespace fusegate::baselines {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const std::chrono::sys_seconds kExample =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + hours(2) + minutes(53) + seconds(32);

TEST(ParseInstant, ReadsWhatProgramsWrite) {
  for (const char* text :
       {"2026-11-21T02:53:32+00:00", "2026-11-21T02:53:32Z", "2026-11-21T04:23:32+01:30",
        "2026-11-20T21:53:32-05:00", "2026-11-21T02:53:32.123456+00:00", "2026-11-21 02:53:32"}) {
    EXPECT_EQ(parse_instant(text), kExample) << text;
  }
}

TEST(ParseInstant, LeavesOtherTextsAlone) {
  for (const char* text :
       {"", "today", "2026", "2026-11-21", "2026-13-21T02:53:32Z", "2026-02-30T02:53:32Z",
        "2026-11-21T24:53:32Z", "2026-11-21T02:53:32X", "2026-11-21T02:53:32+0100",
        "2026-11-21T02:53:32+00:00 ", "-026-11-21T02:53:32Z",
        "2026-11-21T02:53:", "2026-11-21T02:53:32+", "20261121T025332Z", "2026-1-21T02:53:32Z"}) {
    EXPECT_FALSE(parse_instant(text).has_value()) << text;
  }
}

TEST(ParseInstant, TakesAnyLengthWithoutTheStack) {
  const std::string digits(1'000'000, '0');
  EXPECT_EQ(parse_instant("2026-11-21T02:53:32." + digits + "Z"), kExample);
  EXPECT_FALSE(parse_instant("2026-11-21T02:53:32." + digits + "x").has_value());
  EXPECT_FALSE(parse_instant(digits).has_value());
}

}  // namespace
}  // namespace fusegate::baselines
