#include "ci/claims/trace.h"

#include <gtest/gtest.h>

#include "baselines/traces/test_trace.h"
#include "ci/claims/test_input.h"

namespace fusegate::ci {
namespace {

const std::vector<TestOperator> kStep{{"aten::t"}, {"aten::mm", "gemm"}, {"aten::gelu", "gelu"}};

TEST(TraceSteps, HaveTheKernelsOfEachInOrder) {
  baselines::Trace trace = steps_trace("a", kStep);
  std::ranges::find_if(trace.events, [](const baselines::TraceEvent& event) {
    return event.name == "gelu";
  })->duration_ns = 90;
  const TraceSteps steps = trace_steps(trace);
  EXPECT_TRUE(steps.alike);
  EXPECT_EQ(steps.steps, 3u);
  ASSERT_EQ(steps.kernels.size(), 2u);
  EXPECT_EQ(steps.kernels[0].name, "gemm");
  EXPECT_EQ(steps.kernels[1].name, "gelu");
  EXPECT_EQ(steps.kernels[1].duration_ns, 40) << "the median over the steps";
}

TEST(TraceSteps, HaveNoKernelsWhereTheyDiffer) {
  baselines::Trace trace = steps_trace("a", kStep);
  trace.events.back().name = "another";
  EXPECT_FALSE(trace_steps(trace).alike);
  EXPECT_TRUE(trace_steps(trace).kernels.empty());
}

TEST(TraceSteps, AreNoneInATraceWithoutThem) {
  EXPECT_EQ(trace_steps(baselines::example_trace()).steps, 0u);
}

TEST(TraceRows, AreFoundByNameAndPrefix) {
  const baselines::TraceSummary summary = baselines::summarize(steps_trace("aten::range", kStep));
  ASSERT_NE(find_operator(summary, "aten::t"), nullptr);
  EXPECT_EQ(find_operator(summary, "aten::t")->calls, 3u);
  EXPECT_EQ(find_operator(summary, "aten::range"), nullptr) << "it is a range";
  EXPECT_EQ(rows_with_prefix(summary, "aten::").size(), 3u);
  EXPECT_EQ(rows_with_prefix(summary, "cudaLaunch").size(), 1u);
}

}  // namespace
}  // namespace fusegate::ci
