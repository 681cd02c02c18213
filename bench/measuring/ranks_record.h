// What is recorded of each rank of a benchmark that several measure: details.ranks in its entry, by
// rank. The entry's own times are those of the last rank to end, sample by sample.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/meters/meter.h"

namespace fusegate::bench {

class RanksRecord {
 public:
  void saw(const Sample& sample);
  // details: by rank, what that rank knows of itself. calls: of a sample. Adds to each the medians
  // over samples, call_ns and sm_clock_hz, and the share of samples in which it was the last.
  nlohmann::json json(const std::vector<std::string>& details, int calls) const;

 private:
  std::vector<std::vector<Sample::OfRank>> samples_;
};

}  // namespace fusegate::bench
