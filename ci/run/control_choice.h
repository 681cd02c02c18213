// Which benchmarks of equal work are measured as controls beside what differs. How many depends on
// what they are for: against stored figures they tell what the machine did since, side by side only
// that it treats both programs alike.
#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace fusegate::ci {

// Against stored figures: with as many, an unchanged row raised an alarm in 0.2 % of simulated
// suites of 104 rows, with 16 in 0.6 % (null_distribution.h).
inline constexpr std::size_t kControls = 24;

// Side by side each block has both programs, so that what the machine does falls out, and controls
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
};

// Declared controls, then such as together have most
// operations and sizes.
std::set<std::string> controls_for_stored(const std::vector<KnownBenchmark>& equal);

// Declared controls, then as few as fill up to kControlsSideBySide: in turn from the thirds
// of the durations of what differs, and of memory and arithmetic in each, the one that costs least
// there: none that chooses where another is left, and of the least work. Of more than that declared
// controls, those that cost least. By the names alone where nothing else is known.
std::set<std::string> controls_side_by_side(const std::vector<KnownBenchmark>& equal,
                                            const std::vector<KnownBenchmark>& differing);

}  // namespace fusegate::ci
