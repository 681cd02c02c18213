// Which benchmarks of identical code are measured as controls beside what differs. How many depends
// on what they are for: against stored figures they show what the machine did since, side by side
// only that it treats both programs alike.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace fusegate::ci {

// Against stored figures: with as many, an unchanged benchmark raised an alarm in 0.2 % of
// simulated suites of 104 benchmarks, with 16 in 0.6 % (null_distribution.h).
inline constexpr std::size_t kControls = 24;

// Side by side each block has both programs, so that what the machine does cancels, and controls
// show only that it treats both alike. Three processes a side of four benchmarks that differ and 18
// controls took 60 s, four fifths of it for the controls.
inline constexpr std::size_t kControlsSideBySide = 6;

// What is known of a benchmark before it is measured; not a number where nothing is.
struct KnownBenchmark {
  std::string name;
  double time_ns = std::numeric_limits<double>::quiet_NaN();  // of a call, on any day
  double flops = std::numeric_limits<double>::quiet_NaN();
  double min_bytes = std::numeric_limits<double>::quiet_NaN();
  bool is_control = false;
  bool chooses = false;  // a kernel, by measuring or by asking a library
  double elapsed_s = std::numeric_limits<double>::quiet_NaN();  // of a process, for it
};

// Both in the order in which they are taken, so that the first few of them do for less time.
//
// Declared controls, then those that together cover most operations and sizes.
std::vector<std::string> controls_for_stored(const std::vector<KnownBenchmark>& identical);

// Up to so many: declared controls, the cheapest first; then in turn from the thirds of
// the durations of what differs, and of memory-bound and compute-bound in each, the cheapest there:
// one that chooses no kernel before one that does, and the least work first. By the names alone
// where nothing else is known.
std::vector<std::string> controls_side_by_side(const std::vector<KnownBenchmark>& identical,
                                               const std::vector<KnownBenchmark>& differing,
                                               std::size_t most = kControlsSideBySide);

}  // namespace fusegate::ci
