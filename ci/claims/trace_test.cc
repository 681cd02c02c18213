#include <gtest/gtest.h>

#include "baselines/traces/test_trace.h"
#include "ci/claims/input.h"
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

}  // namespace
}  // namespace fusegate::ci
