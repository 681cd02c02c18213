// The order in which a run's invocations are started.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace fusegate::ci {

struct PlannedProcess {
  int arm = 0;
  std::uint64_t seed = 0;
};

// A B B A B A A B ...: rounds come in pairs. The first's order is drawn, so that nothing which
// recurs with the rounds meets one arm always; the second's is its mirror image, so that a machine
// that drifts steadily moves all arms alike.
class Schedule {
 public:
  Schedule(int arms, std::uint64_t seed);

  // One invocation of every arm. Seeds differ over the whole schedule and fit in 31 bits, which any
  // program can read.
  std::vector<PlannedProcess> next_round();

 private:
  std::uint64_t draw_seed();

  std::mt19937_64 random_;
  std::vector<int> order_;
  bool is_mirrored_next_ = false;
  std::set<std::uint64_t> drawn_;
};

}  // namespace fusegate::ci
