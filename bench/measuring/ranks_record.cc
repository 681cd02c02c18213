#include "bench/measuring/ranks_record.h"

#include <algorithm>
#include <cmath>

#include "baselines/statistics/statistics.h"

namespace fusegate::bench {

void RanksRecord::saw(const Sample& sample) { samples_.push_back(sample.of_ranks); }

nlohmann::json RanksRecord::json(const std::vector<std::string>& details, int calls) const {
  nlohmann::json ranks = nlohmann::json::array();
  for (std::size_t rank = 0; rank < details.size(); ++rank) {
    nlohmann::json one = nlohmann::json::parse(details[rank]);
    std::vector<double> times, clocks;
    double last = 0;
    for (const auto& sample : samples_) {
      const auto longest = std::ranges::max_element(sample, {}, &Sample::OfRank::batch_ns);
      last += longest - sample.begin() == static_cast<std::ptrdiff_t>(rank) ? 1 : 0;
      times.push_back(sample.at(rank).batch_ns / calls);
      if (!std::isnan(sample.at(rank).sm_clock_hz)) clocks.push_back(sample.at(rank).sm_clock_hz);
    }
    if (!times.empty()) {
      one["call_ns"] = baselines::median(times);
      one["last_share"] = last / static_cast<double>(samples_.size());
    }
    if (!clocks.empty()) one["sm_clock_hz"] = baselines::median(clocks);
    ranks.push_back(std::move(one));
  }
  return ranks;
}

}  // namespace fusegate::bench
