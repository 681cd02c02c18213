// Figures as people read them, one way in every table, line and report.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "baselines/statistics/statistics.h"

namespace fusegate::ci {

// Four significant digits in a unit that fits: "52.31 us". "-" where the time is not finite.
std::string format_time_ns(double time_ns);

// Likewise an energy: "94.40 mJ".
std::string format_energy_j(double energy_j);

// Likewise of memory: "1.500 GB".
std::string format_bytes(double bytes);

// What a time differs by: "+52.31 us".
std::string format_time_change_ns(double change_ns);

// "+1.23 %", of 0.0123. "-" where it is not finite.
std::string format_effect(double effect);
// Without its sign: "1.23 %" of 0.0123 and of -0.0123.
std::string format_magnitude(double effect);
// "[+0.90, +1.52] %". "-" where either end is not finite.
std::string format_interval(const baselines::Interval& interval);
// Of a whole, one decimal: "45.3 %" of 0.453. "-" where it is not finite.
std::string format_share(double fraction);
// A fraction without a sign, in as few digits as say it: "0.5 %" of 0.005.
std::string format_fraction(double fraction);

// Three significant digits, without exponents: "688", "4.32". "-" where it is not finite.
std::string format_rate(double value);

// How many times as fast, two decimals: "1.50". "-" where it is not finite.
std::string format_factor(double factor);

// "5"; "4.5" where a median over processes fell between two counts. "-" where it is not finite.
std::string format_launches(double launches);

// "12 s", "3 min 20 s", "1 h 02 min".
std::string format_duration(double seconds);

// "2 benchmarks", "1 benchmark", "2 processes".
std::string format_count(std::size_t count, std::string_view singular);

// 0.005 of "0.005" or "0.5%". Throws InputError naming `option` where it is neither, or where it is
// not above 0 and below 1.
double parse_fraction(std::string_view option, std::string_view text);

// As one word of a POSIX shell.
std::string shell_word(std::string_view text);

// "2026-11-21T02:53:32+00:00"
std::string format_instant(std::chrono::system_clock::time_point when);

}  // namespace fusegate::ci
