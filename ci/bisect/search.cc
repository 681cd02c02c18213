#include "ci/bisect/search.h"

#include <algorithm>
#include <cmath>

namespace fusegate::ci {
namespace {

constexpr double kCertain = 3;  // standard errors

Segment segment_between(const std::vector<LineCommit>& line, std::size_t before,
                        std::size_t after) {
  const LineCommit& a = line[before];
  const LineCommit& b = line[after];
  if (a.same_as == b.same_as) return {before, after, 0, 0};
  return {before, after, b.level.log_effect - a.level.log_effect,
          std::hypot(a.level.standard_error, b.level.standard_error)};
}

std::vector<Segment> segments_of(const std::vector<LineCommit>& line) {
  std::vector<Segment> segments;
  std::size_t before = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i].state != LineCommit::State::kKnown) continue;
    segments.push_back(segment_between(line, before, i));
    before = i;
  }
  return segments;
}

double size_of(const Segment& segment) { return std::abs(segment.log_effect); }

std::vector<std::size_t> unknown_in(const std::vector<LineCommit>& line, const Segment& segment) {
  std::vector<std::size_t> unknown;
  for (std::size_t i = segment.before + 1; i < segment.after; ++i) {
    if (line[i].state == LineCommit::State::kUnknown) unknown.push_back(i);
  }
  return unknown;
}

}  // namespace

SearchState search(const std::vector<LineCommit>& line, double least) {
  std::vector<Segment> segments = segments_of(line);
  const Segment largest = *std::ranges::max_element(segments, {}, size_of);
  const double whole = std::abs(line.back().level.log_effect - line.front().level.log_effect);
  std::erase_if(segments, [&](const Segment& one) {
    return one.before != largest.before && (size_of(one) <= kCertain * one.standard_error ||
                                            size_of(one) < std::max(least, kLeastShare * whole));
  });
  SearchState state{.changes = segments, .next = std::nullopt};
  std::ranges::stable_sort(segments, std::ranges::greater(), size_of);
  for (const Segment& segment : segments) {
    const std::vector<std::size_t> unknown = unknown_in(line, segment);
    if (unknown.empty()) continue;
    const double middle = 0.5 * static_cast<double>(segment.before + segment.after);
    const auto next = std::ranges::min_element(
        unknown, {}, [&](std::size_t i) { return std::abs(static_cast<double>(i) - middle); });
    state.next = *next;
    state.of_next = segment;
    state.left_before = static_cast<std::size_t>(next - unknown.begin());
    state.left_after = unknown.size() - state.left_before - 1;
    break;
  }
  return state;
}

}  // namespace fusegate::ci
