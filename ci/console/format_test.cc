#include "ci/console/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(FormatTime, PicksTheUnitAndKeepsFourDigits) {
  EXPECT_EQ(format_time_ns(0.5), "0.5000 ns");
  EXPECT_EQ(format_time_ns(812.3), "812.3 ns");
  EXPECT_EQ(format_time_ns(52310), "52.31 us");
  EXPECT_EQ(format_time_ns(1'234'567), "1.235 ms");
  EXPECT_EQ(format_time_ns(2e9), "2.000 s");
}

TEST(FormatTime, RoundsIntoTheNextUnitAndNotPastIt) {
  EXPECT_EQ(format_time_ns(999.96), "1.000 us");
  EXPECT_EQ(format_time_ns(999.9), "999.9 ns");
}

TEST(FormatTime, HasAMarkForNoTime) {
  EXPECT_EQ(format_time_ns(kNan), "-");
  EXPECT_EQ(format_time_ns(std::numeric_limits<double>::infinity()), "-");
}

TEST(FormatEffect, AlwaysShowsTheSign) {
  EXPECT_EQ(format_effect(0.0123), "+1.23 %");
  EXPECT_EQ(format_effect(-0.5), "-50.00 %");
  EXPECT_EQ(format_effect(kNan), "-");
}

TEST(FormatTimeChange, AlwaysShowsTheSign) {
  EXPECT_EQ(format_time_change_ns(52310), "+52.31 us");
  EXPECT_EQ(format_time_change_ns(-812.3), "-812.3 ns");
  EXPECT_EQ(format_time_change_ns(0), "+0 ns");
  EXPECT_EQ(format_time_change_ns(kNan), "-");
}

TEST(FormatMagnitude, NeverShowsTheSign) {
  EXPECT_EQ(format_magnitude(0.0123), "1.23 %");
  EXPECT_EQ(format_magnitude(-0.5), "50.00 %");
  EXPECT_EQ(format_magnitude(kNan), "-");
}

TEST(FormatInterval, NeedsBothEnds) {
  EXPECT_EQ(format_interval({-0.001, 0.0152}), "[-0.10, +1.52] %");
  EXPECT_EQ(format_interval({kNan, 0.1}), "-");
}

TEST(FormatShare, KeepsOneDecimal) {
  EXPECT_EQ(format_share(0.45349), "45.3 %");
  EXPECT_EQ(format_share(1.2), "120.0 %");
  EXPECT_EQ(format_share(std::nan("")), "-");
}

TEST(FormatFraction, UsesFewDigits) {
  EXPECT_EQ(format_fraction(0.005), "0.5 %");
  EXPECT_EQ(format_fraction(0.02), "2 %");
}

TEST(FormatRate, KeepsThreeDigits) {
  EXPECT_EQ(format_rate(688.4), "688");
  EXPECT_EQ(format_rate(4.321), "4.32");
  EXPECT_EQ(format_rate(0), "0");
  EXPECT_EQ(format_rate(kNan), "-");
}

TEST(FormatFactor, HasTwoDecimals) {
  EXPECT_EQ(format_factor(1.5), "1.50");
  EXPECT_EQ(format_factor(kNan), "-");
}

TEST(FormatLaunches, AreCounts) {
  EXPECT_EQ(format_launches(5), "5");
  EXPECT_EQ(format_launches(4.5), "4.5");
  EXPECT_EQ(format_launches(kNan), "-");
}

TEST(FormatDuration, UsesTwoUnitsAtMost) {
  EXPECT_EQ(format_duration(-3), "0 s");
  EXPECT_EQ(format_duration(12.4), "12 s");
  EXPECT_EQ(format_duration(59.7), "1 min 00 s");
  EXPECT_EQ(format_duration(200), "3 min 20 s");
  EXPECT_EQ(format_duration(3725), "1 h 02 min");
}

TEST(FormatCount, HasAPlural) {
  EXPECT_EQ(format_count(1, "benchmark"), "1 benchmark");
  EXPECT_EQ(format_count(0, "benchmark"), "0 benchmarks");
}

TEST(ParseFraction, ReadsFractionsAndPercent) {
  EXPECT_DOUBLE_EQ(parse_fraction("--min-effect", "0.005"), 0.005);
  EXPECT_DOUBLE_EQ(parse_fraction("--min-effect", "0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(parse_fraction("--min-effect", "2 %"), 0.02);
}

TEST(ParseFraction, RefusesEverythingElseNamingTheOption) {
  for (const char* text : {"", "%", "x", "0.5x", "0", "-0.1", "1", "nan", "150%", "0.5%%"}) {
    try {
      parse_fraction("--min-effect", text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const baselines::InputError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("--min-effect: ")) << error.what();
    }
  }
}

TEST(FormatInstant, IsIso8601WithAZone) {
  EXPECT_EQ(format_instant(std::chrono::system_clock::time_point(std::chrono::seconds(86'400))),
            "1970-01-02T00:00:00+00:00");
}

}  // namespace
}  // namespace fusegate::ci
