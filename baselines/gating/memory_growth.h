// Device memory that a benchmark takes (memory_bytes of the run file), or keeps between the forward
// and the backward pass of a step of training (kept_bytes). Both follow from the code and the
// problem, so they have no noise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

struct MemoryGrowth {
  std::string benchmark;
  std::string counter;  // "memory_bytes" or "kept_bytes"
  double baseline = 0, candidate = 0;
};

// What grew by more than `allowed` of the verdict's benchmark, a share: 0.02 = 2 %. In the order of
// the verdicts.
std::vector<MemoryGrowth> memory_growth(const Run& baseline, const Run& candidate,
                                        const std::vector<Verdict>& verdicts,
                                        const std::function<double(const Verdict&)>& allowed);

}  // namespace fusegate::baselines
