#include "baselines/traces/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace fusegate::baselines {
namespace {

TraceFigures figures_of(const TraceRow& row, const TraceSummary& summary) {
  const double steps = static_cast<double>(std::max<std::size_t>(summary.steps, 1));
  return {static_cast<double>(row.calls) / steps, static_cast<double>(row.cpu_ns) / steps,
          static_cast<double>(row.cuda_ns) / steps};
}

TraceDifference difference_of(const TraceDiffRow& row, double min_difference) {
  if (row.b.calls == 0) return TraceDifference::kOnlyInA;
  if (row.a.calls == 0) return TraceDifference::kOnlyInB;
  if (row.a.calls != row.b.calls) return TraceDifference::kCalls;
  const double longer = std::max(row.a.cuda_ns, row.b.cuda_ns);
  return std::abs(row.a.cuda_ns - row.b.cuda_ns) > min_difference * longer ? TraceDifference::kTime
                                                                           : TraceDifference::kNone;
}

}  // namespace

std::string_view difference_name(TraceDifference difference) {
  constexpr std::array<std::string_view, 5> kNames{"only in A", "only in B", "calls", "time", ""};
  return kNames.at(static_cast<std::size_t>(difference));
}

std::vector<TraceDiffRow> diff_traces(const TraceSummary& a, const TraceSummary& b,
                                      double min_difference) {
  std::vector<TraceDiffRow> rows;
  std::map<std::pair<TraceCategory, std::string_view>, std::size_t> places;
  const auto place = [&](const TraceRow& row) -> TraceDiffRow& {
    const auto [known, added] =
        places.try_emplace(std::pair(row.category, std::string_view(row.name)), rows.size());
    if (added) rows.push_back({.name = row.name, .category = row.category});
    return rows[known->second];
  };
  for (const TraceRow& row : a.rows) place(row).a = figures_of(row, a);
  for (const TraceRow& row : b.rows) place(row).b = figures_of(row, b);
  for (TraceDiffRow& row : rows) row.difference = difference_of(row, min_difference);
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const TraceDiffRow& row) {
    return std::pair(std::abs(row.a.cuda_ns - row.b.cuda_ns), std::abs(row.a.calls - row.b.calls));
  });
  return rows;
}

}  // namespace fusegate::baselines
