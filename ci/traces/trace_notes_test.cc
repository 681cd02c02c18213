#include "ci/traces/trace_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TraceNotes, NameWhatIsLeftOut) {
  EXPECT_THAT(loss_notes({}), IsEmpty());
  EXPECT_THAT(loss_notes({.events = 1, .first = "traceEvents[3].dur: must not be negative (k)"}),
              ElementsAre("1 event left out, traceEvents[3].dur: must not be negative (k)"));
  EXPECT_THAT(loss_notes({.events = 2, .first = "traceEvents[3].ts: is missing", .bytes = 3}),
              ElementsAre("2 events left out, the first: traceEvents[3].ts: is missing",
                          "3 bytes are no UTF-8 and shown as \\x.."));
}

TEST(TraceNotes, DoubtADurationThatEnclosesOtherWork) {
  baselines::TraceSummary summary;
  summary.enclosing = {.name = "gemm", .duration_ns = 3'400'000'000, .enclosed = 5};
  EXPECT_THAT(
      trace_notes(summary),
      ElementsAre("gemm takes 3.400 s, in which 5 other operations of its stream began and "
                  "ended: its duration is wrong, unless they are branches of a CUDA graph"));
}

}  // namespace
}  // namespace fusegate::ci
