#include "baselines/traces/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "baselines/traces/steps.h"
#include "baselines/traces/test_trace.h"

namespace fusegate::baselines {
namespace {

using enum TraceCategory;

const TraceRow& find(const TraceSummary& summary, std::string_view name) {
  const auto found = std::ranges::find(summary.rows, name, &TraceRow::name);
  if (found == summary.rows.end()) throw std::logic_error("no row " + std::string(name));
  return *found;
}

void expect_row(const TraceRow& row, std::size_t calls, std::int64_t self_cpu, std::int64_t cpu,
                std::int64_t self_cuda, std::int64_t cuda) {
  EXPECT_EQ(row.calls, calls) << row.name;
  EXPECT_EQ(row.self_cpu_ns, self_cpu) << row.name;
  EXPECT_EQ(row.cpu_ns, cpu) << row.name;
  EXPECT_EQ(row.self_cuda_ns, self_cuda) << row.name;
  EXPECT_EQ(row.cuda_ns, cuda) << row.name;
}

// On a host thread and a stream.
Trace trace_with(std::vector<TraceEvent> events) {
  Trace trace;
  trace.tracks = {{1, 1}, {0, 7}, {1, 2}};
  trace.events = std::move(events);
  return trace;
}

TEST(TraceSummary, SumsUpSelfAndTotalOfEveryName) {
  const TraceSummary summary = summarize(example_trace());
  expect_row(find(summary, "geglu \"mlp\""), 1, 3'001, 20'001, 0, 61'123);
  expect_row(find(summary, "gate_proj"), 1, 4'500, 9'000, 30'000, 30'000);
  expect_row(find(summary, "up_proj"), 1, 4'300, 8'000, 31'123, 31'123);
  expect_row(find(summary, "cudaLaunchKernelExC"), 2, 7'000, 7'000, 0, 0);
  expect_row(find(summary, "cudaOccupancyMaxActiveBlocksPerMultiprocessor"), 1, 500, 500, 0, 0);
  expect_row(find(summary, "gemm_sm90"), 2, 0, 0, 60'123, 60'123);
  expect_row(find(summary, "Memset (Device)"), 1, 0, 0, 1'000, 1'000);
  EXPECT_EQ(summary.rows.size(), 8U);
  EXPECT_EQ(summary.kernels, 2U);
  EXPECT_EQ(summary.memory_operations, 1U);
  EXPECT_EQ(summary.cuda_ns, 61'123);
  EXPECT_EQ(summary.cpu_ns, 20'001);
  EXPECT_EQ(summary.unowned, 0U);
}

TEST(TraceSummary, MakesOneRowOfAllSteps) {
  const TraceSummary summary = summarize(trace_with({{"ProfilerStep#2", kRange, 0, 0, 10},
                                                     {"ProfilerStep#3", kRange, 0, 10, 12},
                                                     {"ProfilerStep#x", kOperator, 0, 30, 1}}));
  expect_row(find(summary, "ProfilerStep*"), 2, 22, 22, 0, 0);
  EXPECT_EQ(find(summary, "ProfilerStep#x").calls, 1U);
  EXPECT_EQ(summary.steps, 2U);
}

TEST(TraceSummary, KeepsCategoriesOfOneNameApart) {
  const Trace trace = trace_with({{"gelu", kRange, 0, 0, 10}, {"gelu", kKernel, 1, 5, 7}});
  EXPECT_EQ(summarize(trace).rows.size(), 2U);
}

TEST(TraceSummary, LeavesOutPythonFramesAndTheGpusSideOfRanges) {
  const TraceSummary summary = summarize(trace_with({{"module.py(3): forward", kPython, 0, 0, 10},
                                                     {"aten::mm", kOperator, 0, 1, 5},
                                                     {"step", kGpuRange, 1, 0, 10}}));
  ASSERT_EQ(summary.rows.size(), 1U);
  expect_row(summary.rows[0], 1, 5, 5, 0, 0);
}

TEST(TraceSummary, CountsWorkThatNobodyLaunched) {
  Trace trace = example_trace();
  trace.events.back().correlation = 99;
  const TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.unowned, 1U);
  EXPECT_EQ(summary.cuda_ns, 61'123);
  EXPECT_EQ(find(summary, "up_proj").cuda_ns, 1'000);
}

TEST(TraceSummary, StaysAtTheLimitWhereTimesAreWrong) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const TraceSummary summary = summarize(trace_with({{"a", kOperator, 0, 0, kMost},
                                                     {"c", kOperator, 2, 0, kMost},
                                                     {"b", kOperator, 0, 0, kMost},
                                                     {"b", kOperator, 0, 0, kMost},
                                                     {"launch", kRuntimeCall, 0, 5, 1, 1},
                                                     {"launch", kRuntimeCall, 0, 6, 1, 2},
                                                     {"k", kKernel, 1, 0, kMost, 1},
                                                     {"k", kKernel, 1, 0, kMost, 2}}));
  EXPECT_EQ(summary.cuda_ns, kMost);
  EXPECT_EQ(summary.cpu_ns, kMost);
  expect_row(find(summary, "k"), 2, 0, 0, kMost, kMost);
  EXPECT_EQ(find(summary, "b").cpu_ns, kMost);
  EXPECT_EQ(find(summary, "a").cuda_ns, kMost);
}

TEST(TraceSummary, ReportsWorkThatEnclosesWhatFollowsOnItsStream) {
  Trace trace = example_trace();
  EXPECT_FALSE(summarize(trace).enclosing) << "which overlaps, as programmatic launches do";
  TraceEvent& first = trace.events.at(7);
  ASSERT_EQ(first.category, kKernel);
  first.duration_ns = 3'400'000'000;
  const auto enclosing = summarize(trace).enclosing;
  ASSERT_TRUE(enclosing);
  EXPECT_EQ(enclosing->name, "gemm_sm90");
  EXPECT_EQ(enclosing->duration_ns, 3'400'000'000);
  EXPECT_EQ(enclosing->enclosed, 2U);
}

TEST(TraceSummary, TakesAnyDepthWithoutItsSquare) {
  constexpr std::int64_t kDepth = 300'000;
  Trace trace;
  trace.tracks = {{1, 1}, {0, 7}};
  trace.events.push_back({"ProfilerStep#1", kRange, 0, 0, 4 * kDepth});
  for (std::int64_t i = 1; i <= kDepth; ++i) {
    trace.events.push_back({"op", i % 2 ? kOperator : kRuntimeCall, 0, i, 4 * kDepth - 2 * i, i});
    trace.events.push_back({"k", kKernel, 1, i, 1, i});
  }
  const TraceSummary summary = summarize(trace);
  EXPECT_EQ(find(summary, "ProfilerStep*").cuda_ns, kDepth / 2);
  EXPECT_EQ(steps_of(trace).at(0).kernels.size(), std::size_t{kDepth});
}

TEST(TraceSummary, HasNoNegativeTimeWhereRoundedTimesOverlap) {
  const Trace trace = trace_with(
      {{"a", kOperator, 0, 0, 10}, {"b", kOperator, 0, 0, 10}, {"c", kOperator, 0, 9, 5}});
  EXPECT_EQ(find(summarize(trace), "a").self_cpu_ns, 0);
}

}  // namespace
}  // namespace fusegate::baselines
