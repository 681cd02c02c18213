// The nights of one benchmark, and how it moved.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "baselines/history/night.h"

namespace fusegate::ci {

struct Series {
  std::string name;
  // By night; nullptr where a night does not have it. They point into the nights.
  std::vector<const baselines::NightBenchmark*> nights;

  const baselines::NightBenchmark* last() const { return nights.back(); }
  // The latest figure that is known; identical code may not have been measured. NaN where none is.
  double latest(double baselines::NightBenchmark::*figure) const;
};

// Of every benchmark that any night has, by name.
std::vector<Series> all_series(const std::vector<baselines::Night>& nights);

// What a history draws: natural logarithms, NaN where there is none.
struct Curve {
  std::vector<double> values{};
  std::vector<bool> is_break{};  // measured against another program than the night before it
  bool is_over_replay = false;   // else log(ns at the common clock)
};

// Against the replay where most of its nights have that, for what differs from night to night and
// from card to card is not in it.
Curve curve_of(const Series& series, const std::vector<baselines::Night>& nights);

// Candidate over baseline minus one; NaN where it is not known.
struct Movement {
  double effect = baselines::kUnknown;
  double low = baselines::kUnknown, high = baselines::kUnknown;  // 95 %
  double ruled_out = baselines::kUnknown;                        // slowdowns above it, at 95 %
  std::string against{};  // "the replay of 0123456", "the median of 14 nights"
};

// Of the last night: against the replay measured beside it, else against the nights before.
Movement last_movement(const Series& series, const std::vector<baselines::Night>& nights);

// The median of the last week's nights over that of the first's, minus one; NaN where a curve has
// less than two weeks.
double whole_movement(const Curve& curve);

}  // namespace fusegate::ci
