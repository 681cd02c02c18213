// What our best is to reach of the best peer's time, problem by problem: a JSON file that people
// write, and `report --goals` reads. {"goals":
// {"geglu_mlp/bf16/batch:1/seq:128/dim:768/hidden:3072": 0.58}}: a benchmark's name without its
// implementation, and the ratio.
#pragma once

#include <filesystem>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "ci/figures/standing.h"

namespace fusegate::ci {

struct Goal {
  baselines::BenchmarkName problem;  // its implementation is empty
  double ratio = 0;
};

// By name. Throws InputError, naming file and field, for a file that is anything else.
std::vector<Goal> read_goals(const std::filesystem::path& path);

// Gives each problem its goal. A note names those that no problem in the standings has.
void set_goals(const std::vector<Goal>& goals, Standings& standings);

}  // namespace fusegate::ci
