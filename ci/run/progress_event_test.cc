#include "ci/run/progress_event.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

TEST(ParseProgressEvent, ReadsTheStart) {
  const auto event = parse_progress_event(R"(@fusegate {"event":"start","total":60})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->index, 0);
  EXPECT_EQ(event->total, 60);
}

TEST(ParseProgressEvent, ReadsAFinishedBenchmark) {
  const auto event = parse_progress_event(
      R"(@fusegate {"event":"benchmark","index":3,"total":60,"benchmark":"a/b","time_ns":1.5})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->index, 3);
  EXPECT_EQ(event->benchmark, "a/b");
  EXPECT_EQ(event->failure, "");
}

TEST(ParseProgressEvent, ReadsWhatIsChecked) {
  const auto event =
      parse_progress_event(R"(@fusegate {"event":"check","index":3,"total":60,"benchmark":"a/b"})");
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->is_check);
  EXPECT_EQ(event->index, 3);
  EXPECT_EQ(event->benchmark, "a/b");
}

TEST(ParseProgressEvent, ReadsAFailure) {
  const auto event = parse_progress_event(
      R"(@fusegate {"event":"benchmark","index":3,"total":60,"benchmark":"a/b","failure":"wrong"})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->failure, "wrong");
}

TEST(ParseProgressEvent, ReadsANote) {
  const auto event = parse_progress_event(R"(@fusegate {"event":"note","text":"left out a/b"})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->note, "left out a/b");
}

TEST(ParseProgressEvent, LeavesEverythingElseAlone) {
  for (const char* line : {
           "",
           "plain text",
           "@fusegate",
           "@fusegate ",
           "@fusegate {\"event\":\"start\",",
           "@fusegate []",
           R"(@fusegate {"event":"later kind","total":1})",
           R"(@fusegate {"event":"start"})",
           R"(@fusegate {"event":"start","total":"60"})",
           R"(@fusegate {"event":"benchmark","index":4,"total":3})",
           R"(@fusegate {"event":"note","text":""})",
           R"(@fusegate {"event":"note","text":7})",
           R"( @fusegate {"event":"start","total":60})",
       }) {
    EXPECT_FALSE(parse_progress_event(line)) << line;
  }
}

}  // namespace
}  // namespace fusegate::ci
