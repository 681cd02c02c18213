#include "baselines/traces/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace fusegate::baselines {
namespace {

using enum TraceCategory;

TraceSummary summary_of(std::vector<TraceRow> rows, std::size_t steps = 0) {
  TraceSummary summary;
  summary.rows = std::move(rows);
  summary.steps = steps;
  return summary;
}

TraceRow kernel(std::string name, std::size_t calls, std::int64_t ns) {
  return {std::move(name), kKernel, calls, 0, 0, ns, ns};
}

TraceDiffRow only_row(const TraceSummary& a, const TraceSummary& b, double min_difference = 0.05) {
  const std::vector<TraceDiffRow> rows = diff_traces(a, b, min_difference);
  if (rows.size() != 1) throw std::logic_error("not one row");
  return rows[0];
}

TEST(TraceDiff, TellsWhatOnlyOneSideHas) {
  const std::vector<TraceDiffRow> rows =
      diff_traces(summary_of({kernel("gelu", 1, 10), kernel("mul", 1, 30)}),
                  summary_of({kernel("fused", 1, 20)}), 0.05);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "mul");
  EXPECT_EQ(rows[0].difference, TraceDifference::kOnlyInA);
  EXPECT_EQ(rows[1].name, "fused");
  EXPECT_EQ(rows[1].difference, TraceDifference::kOnlyInB);
  EXPECT_EQ(rows[1].b.cuda_ns, 20);
  EXPECT_EQ(rows[2].name, "gelu");
}

TEST(TraceDiff, TellsCallsBeforeTime) {
  const TraceDiffRow row =
      only_row(summary_of({kernel("mul", 1, 10)}), summary_of({kernel("mul", 2, 10)}));
  EXPECT_EQ(row.difference, TraceDifference::kCalls);
  EXPECT_EQ(row.a.calls, 1);
  EXPECT_EQ(row.b.calls, 2);
}

TEST(TraceDiff, TellsGpuTimeBeyondTheSmallestThatMatters) {
  const auto difference = [](std::int64_t a, std::int64_t b) {
    return only_row(summary_of({kernel("mul", 1, a)}), summary_of({kernel("mul", 1, b)}))
        .difference;
  };
  EXPECT_EQ(difference(100, 94), TraceDifference::kTime);
  EXPECT_EQ(difference(94, 100), TraceDifference::kTime);
  EXPECT_EQ(difference(100, 95), TraceDifference::kNone);
  EXPECT_EQ(difference(95, 100), TraceDifference::kNone);
  EXPECT_EQ(difference(0, 0), TraceDifference::kNone);
}

TEST(TraceDiff, TakesHostTimeForNoDifference) {
  const TraceRow slow{"cudaLaunchKernel", kRuntimeCall, 1, 50, 50, 0, 0};
  const TraceRow fast{"cudaLaunchKernel", kRuntimeCall, 1, 5, 5, 0, 0};
  const TraceDiffRow row = only_row(summary_of({slow}), summary_of({fast}));
  EXPECT_EQ(row.difference, TraceDifference::kNone);
  EXPECT_EQ(row.a.cpu_ns, 50);
}

TEST(TraceDiff, ComparesPerStep) {
  const TraceDiffRow row =
      only_row(summary_of({kernel("mul", 3, 30)}, 3), summary_of({kernel("mul", 1, 10)}));
  EXPECT_EQ(row.difference, TraceDifference::kNone);
  EXPECT_EQ(row.a.calls, 1);
  EXPECT_EQ(row.a.cuda_ns, 10);
}

TEST(TraceDiff, KeepsCategoriesOfOneNameApart) {
  const TraceSummary range = summary_of({{"gelu", kRange, 1, 1, 1, 0, 5}});
  EXPECT_EQ(diff_traces(range, summary_of({kernel("gelu", 1, 5)}), 0.05).size(), 2U);
}

}  // namespace
}  // namespace fusegate::baselines
