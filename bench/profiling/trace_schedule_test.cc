#include "bench/profiling/trace_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "baselines/io/error.h"

namespace fusegate::bench {
namespace {

// One letter a step, and of some steps beyond the last.
std::string actions(const TraceSchedule& schedule, int beyond = 2) {
  std::string letters;
  for (int step = 0; step < schedule.steps() + beyond; ++step) {
    letters += "-wrC"[static_cast<int>(schedule.action(step))];
  }
  return letters;
}

TEST(TraceSchedule, IsTheSeriesOwnByDefault) { EXPECT_EQ(actions(TraceSchedule()), "-wrrC--"); }

TEST(TraceSchedule, GoesThroughItsCyclesAndStops) {
  const TraceSchedule schedule({.wait = 2, .warm_up = 1, .active = 2, .repeat = 3});
  EXPECT_EQ(schedule.steps(), 15);
  EXPECT_EQ(actions(schedule), "--wrC--wrC--wrC--");
}

TEST(TraceSchedule, MayRecordFromTheFirstStep) {
  EXPECT_EQ(actions(TraceSchedule({.wait = 0, .warm_up = 0, .active = 1})), "C--");
  EXPECT_EQ(actions(TraceSchedule({.wait = 0, .warm_up = 2, .active = 1}), 0), "wwC");
}

TEST(TraceSchedule, SaysWhatIsOutOfRange) {
  const auto error_of = [](const TraceCycle& cycle) -> std::string {
    try {
      return "no error, " + actions(TraceSchedule(cycle));
    } catch (const baselines::InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of({.wait = -1}), "trace schedule: wait: must be 0 or more, but is -1");
  EXPECT_EQ(error_of({.warm_up = -2}), "trace schedule: warm_up: must be 0 or more, but is -2");
  EXPECT_EQ(error_of({.active = 0}), "trace schedule: active: must be 1 or more, but is 0");
  EXPECT_EQ(error_of({.repeat = 0}), "trace schedule: repeat: must be 1 or more, but is 0");
  EXPECT_THAT(error_of({.active = std::numeric_limits<int>::max()}),
              testing::HasSubstr("more steps than an int can count"));
}

}  // namespace
}  // namespace fusegate::bench
