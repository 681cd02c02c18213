// Comparisons of unchanged code, drawn at random from the invocations of a pool.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "baselines/calibration/pool.h"

namespace fusegate::baselines {

// A comparison to be judged: cards by their place in the pool, invocations by theirs on the card.
// Sides of one session are compared block by block.
struct Draw {
  std::size_t baseline_card = 0;
  std::size_t candidate_card = 0;
  std::vector<std::size_t> baseline{};
  std::vector<std::size_t> candidate{};
  std::string baseline_session{};
  std::string candidate_session{};
};

// Two disjoint sets of `side` invocations of one card. Every card that has enough of them is
// equally likely. Where none has, a card's invocations are halved, the odd one to the baseline:
// smaller sides find less, so they are not mixed with full ones. Nothing where no card has four for
// each side, the fewest of which the gate calls anything that fresh ones have not confirmed.
std::optional<Draw> draw_same_card(const CalibrationPool& pool, int side, std::mt19937_64& random);
// `side` blocks of one session on one card, two invocations of each, dealt to the sides at random.
// As above, sessions of fewer blocks only where none has so many; nothing where none has four.
std::optional<Draw> draw_side_by_side(const CalibrationPool& pool, int side,
                                      std::mt19937_64& random);
// Up to `side` invocations each of two cards.
std::optional<Draw> draw_other_card(const CalibrationPool& pool, int side, std::mt19937_64& random);
// Every ordered pair of the pool's runs that have four invocations, with their sessions.
std::vector<Draw> whole_runs(const CalibrationPool& pool);

// How many different comparisons draw_same_card() and draw_side_by_side() choose from.
double possible_draws(const CalibrationPool& pool, int side);
double possible_side_by_side(const CalibrationPool& pool, int side);

}  // namespace fusegate::baselines
