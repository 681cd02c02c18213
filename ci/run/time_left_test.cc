#include "ci/run/time_left.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

TEST(TimeLeft, IsUnknownBeforeAnythingIsDone) {
  TimeLeft left(3);
  EXPECT_FALSE(left.seconds());
  left.start_process();
  EXPECT_FALSE(left.seconds());
  left.progress(0, 4);
  EXPECT_FALSE(left.seconds());
}

TEST(TimeLeft, ExtrapolatesWithinTheFirstInvocation) {
  TimeLeft left(3);
  left.start_process();
  left.progress(0.25, 10);  // a whole one takes 40 s: 30 s of it are left, and two more
  EXPECT_DOUBLE_EQ(*left.seconds(), 110);
}

TEST(TimeLeft, GoesByFinishedInvocationsAfterwards) {
  TimeLeft left(3);
  left.start_process();
  left.finish_process(60, true);
  EXPECT_DOUBLE_EQ(*left.seconds(), 120);
  left.start_process();
  left.progress(0.5, 5);  // its own pace does not count any more
  EXPECT_DOUBLE_EQ(*left.seconds(), 90);
  left.finish_process(40, true);
  EXPECT_DOUBLE_EQ(*left.seconds(), 50);
  left.start_process();
  left.finish_process(50, true);
  EXPECT_DOUBLE_EQ(*left.seconds(), 0);
}

TEST(TimeLeft, IsNotMisledByACrash) {
  TimeLeft left(3);
  left.start_process();
  left.finish_process(0.1, false);
  EXPECT_FALSE(left.seconds());
  left.start_process();
  left.finish_process(30, true);
  EXPECT_DOUBLE_EQ(*left.seconds(), 30);
}

TEST(TimeLeft, NeverGoesBelowZero) {
  TimeLeft left(1);
  left.start_process();
  left.progress(1.5, 10);
  EXPECT_DOUBLE_EQ(*left.seconds(), 0);
}

}  // namespace
}  // namespace fusegate::ci
