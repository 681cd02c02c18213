#include "ci/run/schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fusegate::ci {

Schedule::Schedule(int arms, std::uint64_t seed)
    : random_(seed), order_(static_cast<std::size_t>(arms)) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::vector<PlannedProcess> Schedule::next_round() {
  if (is_mirrored_next_) {
    std::ranges::reverse(order_);
  } else {
    // By hand and not by std::shuffle, whose result for a seed differs between standard libraries.
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
  }
  is_mirrored_next_ = !is_mirrored_next_;
  std::vector<PlannedProcess> round;
  for (const int arm : order_) round.push_back({arm, draw_seed()});
  return round;
}

std::uint64_t Schedule::draw_seed() {
  std::uint64_t seed = random_() >> 33;
  while (!drawn_.insert(seed).second) seed = random_() >> 33;
  return seed;
}

}  // namespace fusegate::ci
