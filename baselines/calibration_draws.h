// Comparisons of unchanged code, drawn from a pool and judged as the gate judges: what is called
// although nothing changed, and what is found where a kernel was slowed on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "baselines/calibration.h"

namespace fusegate {

// A comparison to be judged: cards by their place in the pool, invocations by theirs on the card.
struct Draw {
  std::size_t baseline_card = 0;
  std::size_t candidate_card = 0;
  std::vector<std::size_t> baseline{};
  std::vector<std::size_t> candidate{};
};

// Two disjoint sets of `side` invocations of one card, each card that has so many as likely. Where
// none has, a card's invocations are halved, the odd one to the baseline: smaller sides find less,
// so they are not mixed with full ones. Nothing where no card has two for each side, the fewest on
// which the gate calls anything.
std::optional<Draw> draw_same_card(const CalibrationPool& pool, int side, std::mt19937_64& random);
// Up to `side` invocations each of two cards.
std::optional<Draw> draw_other_card(const CalibrationPool& pool, int side, std::mt19937_64& random);
// Every ordered pair of the pool's runs that have two invocations.
std::vector<Draw> whole_runs(const CalibrationPool& pool);

// How many different comparisons draw_same_card() chooses from.
double possible_draws(const CalibrationPool& pool, int side);

struct RuleDraws {
  RuleCalibration calibration;     // all but smallest_detectable
  std::vector<double> detectable;  // a benchmark, in the pool's order: median over the draws
};

// rules: in the result's order. Draws are judged on all cores and depend on the seed alone.
std::vector<RuleDraws> judge_draws(const CalibrationPool& pool,
                                   const std::vector<DurationClass>& classes,
                                   const std::vector<Rule>& rules,
                                   const CalibrationOptions& options);

}  // namespace fusegate
