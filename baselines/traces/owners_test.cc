#include "baselines/traces/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/traces/test_trace.h"

namespace fusegate::baselines {
namespace {

using ::testing::ElementsAre;
using enum TraceCategory;

Trace trace_of(std::vector<TraceEvent> events) {
  Trace trace;
  trace.tracks = {{1, 1}, {1, 2}, {0, 7}};
  trace.events = std::move(events);
  return trace;
}

TEST(TraceOwners, AreTheInnermostAroundAHostEvent) {
  EXPECT_THAT(owners(example_trace()), ElementsAre(kNoEvent, 0, 1, 1, 0, 4, 4, 1, 4, 4));
}

TEST(TraceOwners, AreOfTheSameThread) {
  EXPECT_THAT(owners(trace_of({{"a", kOperator, 0, 0, 100}, {"b", kOperator, 1, 10, 10}})),
              ElementsAre(kNoEvent, kNoEvent));
}

TEST(TraceOwners, DoNotDependOnTheOrderInTheFile) {
  EXPECT_THAT(owners(trace_of({{"inner", kOperator, 0, 10, 10},
                               {"kernel", kKernel, 2, 50, 5, 9},
                               {"call", kRuntimeCall, 0, 12, 3, 9},
                               {"outer", kRange, 0, 10, 90}})),
              ElementsAre(3, 0, 0, kNoEvent));
}

TEST(TraceOwners, EndWhereTheNextBegins) {
  EXPECT_THAT(owners(trace_of({{"a", kOperator, 0, 0, 10}, {"b", kOperator, 0, 10, 10}})),
              ElementsAre(kNoEvent, kNoEvent));
}

TEST(TraceOwners, KeepWhatRoundedTimesLetOutlastThem) {
  EXPECT_THAT(owners(trace_of({{"a", kOperator, 0, 0, 10}, {"b", kOperator, 0, 8, 3}})),
              ElementsAre(kNoEvent, 0));
}

TEST(TraceOwners, AreNoCallsOfWork) {
  EXPECT_THAT(owners(trace_of({{"aten::mm", kOperator, 0, 0, 100},
                               {"cudaLaunchKernel", kRuntimeCall, 0, 10, 50, 4},
                               {"cuLaunchKernel", kDriverCall, 0, 20, 30, 4},
                               {"kernel", kKernel, 2, 200, 5, 4}})),
              ElementsAre(kNoEvent, 0, 1, 0));
}

TEST(TraceOwners, AreFoundByExternalIdWhereTheCallIsOnAnotherThread) {
  EXPECT_THAT(owners(trace_of({{"aten::mm", kOperator, 0, 0, 100, 0, 77},
                               {"cudaLaunchKernel", kRuntimeCall, 1, 10, 50, 4, 77},
                               {"kernel", kKernel, 2, 200, 5, 4, 77}})),
              ElementsAre(kNoEvent, kNoEvent, 0));
}

TEST(TraceOwners, AreRatherFoundByTheCallThanByExternalId) {
  EXPECT_THAT(owners(trace_of({{"outer", kOperator, 0, 0, 100, 0, 77},
                               {"inner", kOperator, 0, 5, 60, 0, 78},
                               {"cudaLaunchKernel", kRuntimeCall, 0, 10, 50, 4, 77},
                               {"kernel", kKernel, 2, 200, 5, 4, 77}})),
              ElementsAre(kNoEvent, 0, 1, 1));
}

TEST(TraceOwners, AreNotMistakenByAnExternalIdThatIsTheCorrelation) {
  EXPECT_THAT(owners(trace_of({{"aten::mm", kOperator, 0, 0, 100, 0, 4},
                               {"kernel", kKernel, 2, 200, 5, 4, 4}})),
              ElementsAre(kNoEvent, kNoEvent));
}

TEST(TraceOwners, AreNoneOfWorkThatNamesNoLaunch) {
  EXPECT_THAT(owners(trace_of({{"aten::mm", kOperator, 0, 0, 100},
                               {"call", kRuntimeCall, 0, 10, 20},
                               {"kernel", kKernel, 2, 15, 5}})),
              ElementsAre(kNoEvent, 0, kNoEvent));
}

}  // namespace
}  // namespace fusegate::baselines
