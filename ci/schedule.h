// The order in which a run's invocations are started.
#pragma once

#include <cstdint>
#include <vector>

namespace fusegate {

struct PlannedInvocation {
  int arm = 0;    // which of the programs
  int round = 0;  // each round has one invocation of every arm
  std::uint64_t seed = 0;
};

// A B B A A B ...: every second round is reversed, so that a machine that drifts steadily moves all
// arms alike. Seeds are drawn from `seed`, differ, and fit in 31 bits, which any program can read.
std::vector<PlannedInvocation> interleave(int arms, int rounds, std::uint64_t seed);

}  // namespace fusegate
