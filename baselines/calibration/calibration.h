// A calibration: what runs of unchanged code show of a machine, a suite and a protocol. How far
// processes and cards spread, how small an effect the gate finds, and how often it raises a false
// alarm. It is stored beside the baselines, as SUITE.calibration.json.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baselines/calibration/classes.h"
#include "baselines/calibration/pool.h"
#include "baselines/comparing/rule.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

struct CalibrationOptions {
  Rule rule{};  // the gate's
  int comparisons = 1000;
  int processes = 5;  // of the baseline and of the candidate
  std::uint64_t seed = 1;
};

// Counted of how many. 0 of 0: not tried.
struct Rate {
  int count = 0;
  int of = 0;

  void add(bool counted) {
    count += counted;
    ++of;
  }
  // NaN of 0.
  double share() const {
    return of > 0 ? static_cast<double>(count) / of : std::numeric_limits<double>::quiet_NaN();
  }
  Interval bounds() const { return binomial_interval(count, of, 0.025); }  // 95 %
};

// Over benchmarks; NaN where there is none.
struct Quantiles {
  int benchmarks = 0;
  double median = 0;
  double p90 = 0;
  double max = 0;
};

// Of the relative standard deviations between the processes of a card.
struct SpreadSummary {
  Quantiles quantiles;
  double rms = 0;         // pooled: each benchmark weighs as its degrees of freedom
  int within_target = 0;  // benchmarks
};

struct ClassSpread {
  SpreadSummary time;
  SpreadSummary cycles;
  SpreadSummary equal_clock;  // of time (clock_share.h)
};

// Comparisons of unchanged code in which at least one benchmark was called.
struct FalseAlarms {
  Rate regressions;
  Rate improvements;
};

// Standard deviations between cards of a card's mean logarithm, less what the noise of the means
// explains.
struct CardSpread {
  int benchmarks = 0;
  double time = 0;         // NaN without benchmarks
  double cycles = 0;       // NaN where any has no cycles
  double equal_clock = 0;  // likewise
};

struct BetweenCard {
  int cards = 0;
  CardSpread all;
  PerClass<CardSpread> classes;
  CardSpread compute_bound;
  CardSpread memory_bound;
};

struct BenchmarkCalibration {
  std::string name;
  double time_ns = 0;              // geometric mean
  double spread_time = 0;          // standard deviation between the processes of a card
  double spread_cycles = 0;        // NaN where any has no cycles
  double spread_equal_clock = 0;   // likewise
  double degrees_of_freedom = 0;   // of both
  double smallest_detectable = 0;  // NaN where nothing was drawn
};

struct Calibration {
  std::string date;  // ISO 8601
  std::string suite;
  Environment environment;
  nlohmann::json protocol;
  std::vector<Warning> warnings;
  std::vector<CalibratedRun> runs;
  std::vector<std::string> left_out;  // benchmarks that failed or that a run lacks
  CalibrationOptions options;
  PerClass<ClassSpread> spread;
  FalseAlarms alarms;                       // of random comparisons within a card
  PerClass<Quantiles> smallest_detectable;  // of each benchmark's median over these
  std::optional<BetweenCard> between_card;
  std::vector<BenchmarkCalibration> benchmarks;  // sorted by name
};

}  // namespace fusegate::baselines
