// What counts as a difference.
#pragma once

#include <optional>

#include "baselines/comparing/card_differences.h"
#include "baselines/io/settings.h"

namespace fusegate::baselines {

// A call costs the host more where it takes longer by more than both.
struct HostRule {
  double min_effect = 0.1;  // 0.1 = 10 %
  double min_ns = 1000;
};

struct Rule {
  double min_effect = 0.0015;  // smallest effect that matters, 0.0015 = 0.15 %
  // What "slower" and "faster" are tested against; else min_effect. Within min_effect a benchmark
  // is unchanged all the same.
  std::optional<double> tested_effect{};
  double false_discovery_rate = 0.01;  // over the whole suite
  double confidence = 0.95;            // of the interval
  CardDifferences cards{};             // where the runs themselves do not show them
  HostRule host{};
  // The code is the same on both sides, and what the machine did is what is asked: nothing of it is
  // taken for noise.
  bool asks_for_machine = false;
};

inline double tested_effect(const Rule& rule) {
  return rule.tested_effect.value_or(rule.min_effect);
}

// What matters of one benchmark.
struct Limits {
  double min_effect = 0;
  double tested_effect = 0;
};

// What a suite sets for it stands in for the whole suite's, and is tested against.
inline Limits limits_of(const Rule& rule, const BenchmarkSettings& own) {
  return {own.min_effect.value_or(rule.min_effect), own.min_effect.value_or(tested_effect(rule))};
}

// Of two runs measured side by side, where nobody says what matters: nothing but the code moves one
// of them alone, so the test may lie nearer to zero than where sessions differ. Of five processes a
// side it finds +0.5 % in 90 % of the benchmarks and more, and with 0.15 % in 87 %
// (docs/evidence/other-rules.md).
inline constexpr double kTestedSideBySide = 0.001;

// Where a side has fewer processes to be compared, so many fresh ones of that side must confirm a
// change before it is called: a bimodal kernel may show one of its clusters in all of
// three processes. Stored figures have no fresh ones.
inline constexpr int kFewestProcesses = 4;
inline constexpr int kFewestConfirming = 2;

// Ratios: as much faster as the smallest slowdown that matters is slower.
inline double least_gain(double min_effect) { return -min_effect / (1 + min_effect); }

}  // namespace fusegate::baselines
