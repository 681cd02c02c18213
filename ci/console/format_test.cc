#include "ci/console/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Format, ShowsFiguresOneWayEverywhere) {
  const std::vector<std::pair<std::string, std::string>> cases{
      // The unit that fits, and four digits.
      {format_time_ns(0.5), "0.5000 ns"},
      {format_time_ns(812.3), "812.3 ns"},
      {format_time_ns(52310), "52.31 us"},
      {format_time_ns(1'234'567), "1.235 ms"},
      {format_time_ns(2e9), "2.000 s"},
      // Rounded into the next unit and not past it.
      {format_time_ns(999.96), "1.000 us"},
      {format_time_ns(999.9), "999.9 ns"},
      // No time.
      {format_time_ns(kNan), "-"},
      {format_time_ns(std::numeric_limits<double>::infinity()), "-"},
      // Energies.
      {format_energy_j(1.5), "1.500 J"},
      {format_energy_j(0.0944), "94.40 mJ"},
      {format_energy_j(0.00099996), "1.000 mJ"},
      {format_energy_j(2.5e-7), "0.2500 uJ"},
      {format_energy_j(kNan), "-"},
      {format_bytes(1.5e9), "1.500 GB"},
      {format_bytes(0), "0 B"},
      // Effects and changes have a sign, magnitudes have none.
      {format_effect(0.0123), "+1.23 %"},
      {format_effect(-0.5), "-50.00 %"},
      {format_effect(kNan), "-"},
      {format_effect(-0.00004), "+0.00 %"},
      {format_effect(-0.00006), "-0.01 %"},
      {format_interval({-0.00001, -0.0}), "[+0.00, +0.00] %"},
      {format_share(-0.0004), "0.0 %"},
      {format_time_change_ns(52310), "+52.31 us"},
      {format_time_change_ns(-812.3), "-812.3 ns"},
      {format_time_change_ns(0), "+0 ns"},
      {format_time_change_ns(kNan), "-"},
      {format_magnitude(0.0123), "1.23 %"},
      {format_magnitude(-0.5), "50.00 %"},
      {format_magnitude(kNan), "-"},
      // Both ends or none.
      {format_interval({-0.001, 0.0152}), "[-0.10, +1.52] %"},
      {format_interval({kNan, 0.1}), "-"},
      // One decimal; as few digits as say it; three digits; two decimals.
      {format_share(0.45349), "45.3 %"},
      {format_share(1.2), "120.0 %"},
      {format_share(std::nan("")), "-"},
      {format_fraction(0.005), "0.5 %"},
      {format_fraction(0.02), "2 %"},
      {format_rate(688.4), "688"},
      {format_rate(4.321), "4.32"},
      {format_rate(0), "0"},
      {format_rate(kNan), "-"},
      {format_factor(1.5), "1.50"},
      {format_factor(kNan), "-"},
      // Counts.
      {format_launches(5), "5"},
      {format_launches(4.5), "4.5"},
      {format_launches(kNan), "-"},
      // Two units at most.
      {format_duration(-3), "0 s"},
      {format_duration(12.4), "12 s"},
      {format_duration(59.7), "1 min 00 s"},
      {format_duration(200), "3 min 20 s"},
      {format_duration(3725), "1 h 02 min"},
      // A plural.
      {format_count(1, "benchmark"), "1 benchmark"},
      {format_count(0, "benchmark"), "0 benchmarks"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(text, expected);
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

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("geglu/fused:8"), "geglu/fused:8");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a 'b' $c"), "'a '\\''b'\\'' $c'");
}

TEST(FormatInstant, IsIso8601WithAZone) {
  EXPECT_EQ(format_instant(std::chrono::system_clock::time_point(std::chrono::seconds(86'400))),
            "1970-01-02T00:00:00+00:00");
}

}  // namespace
}  // namespace fusegate::ci
