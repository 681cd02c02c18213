// A calibration: what runs of unchanged code say about a machine, a suite and a protocol. How far
// processes spread, how often the gate raises a false alarm, what slowdown it finds, and how far
// cards differ. It is stored beside the baselines, as SUITE.calibration.json.
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
  Rule rule{};                      // the gate's
  double sharp_min_effect = 0.001;  // judged by as well: what a sharper rule would find
  std::vector<double> slowdowns{0.005, 0.01, 0.02};
  int comparisons = 1000;
  int side = 5;  // invocations of each side of a comparison
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

// One family a comparison (family_of()) is slowed, in time and in cycles. Controls never are.
struct Detection {
  double slowdown = 0;
  PerClass<Rate> found{};  // of the slowed benchmarks
  Rate outside{};          // comparisons in which a benchmark of another family was called slower
};

// Random draws of both sides from one card.
struct DrawnCalibration {
  FalseAlarms alarms;
  std::vector<Detection> detection;
  PerClass<Quantiles> smallest_detectable;  // of each benchmark's median over the draws
};

struct RuleCalibration {
  Rule rule;
  DrawnCalibration same_card;     // as runs of two commands
  DrawnCalibration side_by_side;  // pairs from the blocks of one command, as in a duet
  FalseAlarms other_card;         // draws of the sides from two cards
  // Whole runs as they were measured, every ordered pair of them: unlike draws from a card's pool,
  // the sides then differ in the occasion too.
  FalseAlarms same_card_runs;
  FalseAlarms other_card_runs;
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
  double smallest_detectable = 0;  // by the gate's rule; NaN where nothing was drawn
};

struct Calibration {
  std::string date;  // ISO 8601
  std::string suite;
  Environment environment;
  nlohmann::json protocol;
  std::vector<Doubt> doubts;
  std::vector<CalibratedRun> runs;
  std::vector<std::string> left_out;  // benchmarks that failed or that a run lacks
  int comparisons = 0;
  int side = 0;
  std::uint64_t seed = 0;
  double possible_draws = 0;         // how many different comparisons same_card chooses from
  double possible_side_by_side = 0;  // likewise
  PerClass<ClassSpread> spread;
  std::vector<RuleCalibration> rules;  // the gate's first
  std::optional<BetweenCard> between_card;
  std::vector<BenchmarkCalibration> benchmarks;  // sorted by name
};

}  // namespace fusegate::baselines
