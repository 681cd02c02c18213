#include "baselines/traces/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fusegate::baselines {
namespace {

using enum TraceCategory;
using testing::ElementsAre;

// Two steps of 900 ns on thread 0, from 1000 and from 2000; thread 1 is autograd's, track 2 a
// stream.
Trace two_steps() {
  Trace trace;
  trace.tracks = {{100, 1}, {100, 2}, {0, 7}};
  trace.events = {{"ProfilerStep#0", kRange, 0, 1000, 900},
                  {"ProfilerStep#1", kRange, 0, 2000, 900}};
  return trace;
}

std::vector<std::vector<std::string>> kernels_of(const Trace& trace) {
  std::vector<std::vector<std::string>> names;
  for (const TraceStep& step : steps_of(trace)) {
    names.emplace_back();
    for (const TraceEvent* kernel : step.kernels) names.back().push_back(kernel->name);
  }
  return names;
}

TEST(Steps, HaveWhatAnotherThreadLaunchesInTheirTime) {
  Trace trace = two_steps();
  trace.events.push_back({"autograd", kOperator, 1, 1500, 200});
  trace.events.push_back({"cudaLaunchKernel", kRuntimeCall, 1, 1520, 8, 5});
  // It runs when the next step has begun.
  trace.events.push_back({"backward", kKernel, 2, 2100, 300, 5});
  EXPECT_THAT(kernels_of(trace), ElementsAre(ElementsAre("backward"), ElementsAre()));
  EXPECT_EQ(steps_of(trace)[0].calls.size(), 1U);
}

TEST(Steps, HaveWhatRunsInTheirTimeWithoutALaunchInTheTrace) {
  Trace trace = two_steps();
  trace.events.push_back({"before", kKernel, 2, 500, 100, 7});
  trace.events.push_back({"of_a_graph", kKernel, 2, 2000, 100, 8});
  trace.events.push_back({"memset", kMemset, 2, 2100, 100, 0});
  trace.events.push_back({"between", kKernel, 2, 1900, 50, 9});
  EXPECT_THAT(kernels_of(trace), ElementsAre(ElementsAre(), ElementsAre("of_a_graph")));
  EXPECT_EQ(steps_of(trace)[1].memory_operations.size(), 1U);
}

TEST(Steps, HaveWhatRunsInTheirTimeThoughItWasLaunchedOutsideOfAll) {
  Trace trace = two_steps();
  trace.events.push_back({"cudaLaunchKernel", kRuntimeCall, 1, 500, 8, 5});
  trace.events.push_back({"late", kKernel, 2, 1100, 300, 5});
  EXPECT_THAT(kernels_of(trace), ElementsAre(ElementsAre("late"), ElementsAre()));
  EXPECT_TRUE(steps_of(trace)[0].calls.empty());
}

TEST(Steps, KeepWhatTheyLaunchedThemselvesWheneverItRuns) {
  Trace trace = two_steps();
  trace.events.push_back({"cudaLaunchKernel", kRuntimeCall, 0, 1800, 8, 5});
  trace.events.push_back({"of_first", kKernel, 2, 2100, 300, 5});
  EXPECT_THAT(kernels_of(trace), ElementsAre(ElementsAre("of_first"), ElementsAre()));
}

TEST(Steps, OfSeveralThreadsTakeTheLastThatBegan) {
  Trace trace = two_steps();
  trace.events.push_back({"ProfilerStep#0", kRange, 1, 1100, 400});
  trace.events.push_back({"a", kKernel, 2, 1200, 10, 0});
  trace.events.push_back({"b", kKernel, 2, 1600, 10, 0});
  EXPECT_THAT(kernels_of(trace), ElementsAre(ElementsAre("b"), ElementsAre(), ElementsAre("a")));
}

}  // namespace
}  // namespace fusegate::baselines
