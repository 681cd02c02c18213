// What the gate calls where nothing changed, and how small an effect it finds: comparisons of a
// card's own processes, drawn at random.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "baselines/calibration/calibration.h"
#include "baselines/calibration/pool.h"

namespace fusegate::baselines {

// A comparison: the card's index in the pool, and indices of the card's processes.
struct Draw {
  std::size_t card = 0;
  std::vector<std::size_t> baseline{};
  std::vector<std::size_t> candidate{};
};

// Two disjoint sets of so many processes of one card. Every card that has enough of them is equally
// likely. Where none has, a card's processes are halved, the larger half to the baseline: smaller
// sets find less, so they are not mixed with full ones. Nothing where no card has four for each,
// the fewest with which the gate calls anything that fresh processes have not confirmed.
std::optional<Draw> draw_comparison(const CalibrationPool& pool, int processes,
                                    std::mt19937_64& random);

struct JudgedDraws {
  FalseAlarms alarms;
  // In the order of the pool's benchmarks: the median over the draws of the smallest effect that is
  // found. NaN where nothing was drawn.
  std::vector<double> smallest_detectable;
};

// As the gate judges, on all cores. Depends on the seed alone.
JudgedDraws judge_draws(const CalibrationPool& pool, const CalibrationOptions& options);

}  // namespace fusegate::baselines
