#include "ci/schedule.h"

#include <random>
#include <set>

namespace fusegate {

std::vector<PlannedInvocation> interleave(int arms, int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::uint64_t> drawn;
  std::vector<PlannedInvocation> plan;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < arms; ++i) {
      std::uint64_t own_seed = random() >> 33;
      while (!drawn.insert(own_seed).second) own_seed = random() >> 33;
      plan.push_back({round % 2 == 0 ? i : arms - 1 - i, round, own_seed});
    }
  }
  return plan;
}

}  // namespace fusegate
