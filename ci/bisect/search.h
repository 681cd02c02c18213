// Which commit of a line is measured next, given what is known of the others. A pure decision: it
// knows positions and levels, and neither git nor programs.
//
// Commits whose level is known cut the line into segments. A segment has a change where the levels
// at its ends differ: the largest difference always, and every other one that is more than three
// standard errors, the smallest effect that matters and a tenth of the whole. So of one change a
// line of 64 commits needs six levels, and changes that several commits share are all followed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fusegate::ci {

// Of the whole change, a part that is followed.
inline constexpr double kLeastShare = 0.1;

// Of a time over that of the line's first commit: natural logarithms.
struct Level {
  double log_effect = 0;
  double standard_error = 0;
};

struct LineCommit {
  enum class State { kUnknown, kSkipped, kKnown };
  State state = State::kUnknown;
  // The commit whose code it runs, which has the same level: itself, or an earlier found one.
  std::size_t same_as = 0;
  Level level{};  // where it is known
};

// Between two neighbours among the known commits. What lies between them is skipped or unknown.
struct Segment {
  std::size_t before = 0;
  std::size_t after = 0;
  double log_effect = 0;
  double standard_error = 0;
};

struct SearchState {
  std::vector<Segment> changes{};   // in the line's order
  std::optional<std::size_t> next;  // the commit to measure; none: nothing can be narrowed down
  Segment of_next{};                // the change that it lies in
  std::size_t left_before = 0;      // unknown commits in that, before next and after it
  std::size_t left_after = 0;
};

// line: its first and last commit are known. least: the smallest difference that matters, as a
// logarithm. Of a change with the largest difference first, the middle one.
SearchState search(const std::vector<LineCommit>& line, double least);

}  // namespace fusegate::ci
