#include "bench/plan/rank_count.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fusegate::bench {
namespace {

// Of its axis, or else of its operations' own problems.
std::vector<std::int64_t> named_counts(const Sweep& sweep) {
  std::vector<std::int64_t> counts;
  if (const auto axis = sweep.axes.find(kernels::kRanksAxis); axis != sweep.axes.end()) {
    for (const AxisValue& value : axis->second) counts.push_back(value.size);
    return counts;
  }
  for (const kernels::Operation* const operation : operations_of(sweep.operations, sweep.axes)) {
    for (const kernels::Problem& problem : operation->problems) {
      counts.push_back(kernels::ranks_of(problem).value_or(1));
    }
  }
  return counts;
}

}  // namespace

int rank_count(const Options& options, const Suite& suite) {
  if (options.ranks) return *options.ranks;
  std::int64_t most = 1;
  int devices = 0;  // asked for where a suite names ranks alone
  for (const Sweep& sweep : suite.sweeps) {
    for (const std::int64_t count : named_counts(sweep)) {
      if (count <= most) continue;
      if (devices == 0) devices = std::max(1, kernels::device_count(options.device));
      if (count <= devices) most = count;
    }
  }
  return static_cast<int>(most);
}

}  // namespace fusegate::bench
