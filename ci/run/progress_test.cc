#include "ci/run/progress.h"

#include <gtest/gtest.h>

#include <sstream>

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

TEST(TimeLeft, IsUnknownBeforeAnythingIsDone) {
  TimeLeft left(3);
  EXPECT_FALSE(left.seconds());
  left.start_process();
  EXPECT_FALSE(left.seconds());
  left.progress(0, 4);
  EXPECT_FALSE(left.seconds());
}

TEST(TimeLeft, ExtrapolatesWithinTheFirstProcess) {
  TimeLeft left(3);
  left.start_process();
  left.progress(0.25, 10);  // a whole one takes 40 s: 30 s of it are left, and two more
  EXPECT_DOUBLE_EQ(*left.seconds(), 110);
}

TEST(TimeLeft, GoesByFinishedProcessesAfterwards) {
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

class ProgressDisplayTest : public ::testing::Test {
 protected:
  ProgressDisplay display(bool status_line, int planned) {
    console_.status_line = status_line;
    return ProgressDisplay(console_, planned, [this] { return seconds_; });
  }
  std::string written() const { return err_.str(); }

  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, false, 60};
  double seconds_ = 100;
};

TEST_F(ProgressDisplayTest, WritesOnePlainLineAnProcess) {
  ProgressDisplay shown = display(false, 2);
  shown.start_process("");
  seconds_ += 1;
  shown.show({1, 2, "a", ""});
  seconds_ += 1;
  shown.show({2, 2, "b", ""});
  shown.finish_process("");
  EXPECT_EQ(written(), "process 1/2: finished in 2 s, 2 s left\n");
}

TEST_F(ProgressDisplayTest, WritesAPlainLineBetweenAtMostEveryTenSeconds) {
  ProgressDisplay shown = display(false, 1);
  shown.start_process("");
  for (int i = 1; i <= 6; ++i) {
    seconds_ += 4;
    shown.show({i, 6, "a/b", ""});
  }
  EXPECT_EQ(written(),
            "process 1/1: 50 %, 12 s left  a/b\n"
            "process 1/1: 100 %, 0 s left  a/b\n");
}

TEST_F(ProgressDisplayTest, ReportsInALogThatAProcessIsSilent) {
  ProgressDisplay shown = display(false, 2);
  shown.start_process("");
  seconds_ += 9;
  shown.wait();
  EXPECT_EQ(written(), "");
  shown.show({.index = 0, .total = 3, .benchmark = "a/b", .is_check = true});
  for (int i = 0; i < 5; ++i) {
    seconds_ += 4;
    shown.wait();
  }
  EXPECT_EQ(written(),
            "process 1/2: checking results, benchmark 1/3  a/b, 13 s so far\n"
            "process 1/2: checking results, benchmark 1/3  a/b, 25 s so far\n");
  shown.finish_process("");
  EXPECT_TRUE(written().ends_with("process 1/2: finished in 29 s, 29 s left\n")) << written();
}

TEST_F(ProgressDisplayTest, ShowsAFailureAtOnce) {
  ProgressDisplay shown = display(false, 1);
  shown.start_process("");
  shown.show({1, 2, "a", "wrong results"});
  EXPECT_EQ(written(), "a failed: wrong results\n");
}

TEST_F(ProgressDisplayTest, SaysHowAnProcessFailed) {
  ProgressDisplay shown = display(false, 2);
  shown.start_process("head");
  shown.finish_process("ended by signal 11");
  EXPECT_EQ(written(), "process 1/2 (head): ended by signal 11, after 0 s\n");
}

TEST_F(ProgressDisplayTest, KeepsOneLineOnATerminalWithinItsWidth) {
  {
    ProgressDisplay shown = display(true, 2);
    shown.start_process("");
    seconds_ += 3;
    shown.show({1, 2, std::string(100, 'x'), ""});
  }
  const std::string text = written();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const std::string clear = "\r\x1b[K";
  EXPECT_TRUE(text.starts_with(clear + "process 1/2" + clear + "process 1/2: 50 %"));
  EXPECT_TRUE(text.ends_with(std::string("x") + clear));  // the end leaves the line empty
  const std::size_t last = text.rfind(clear);
  const std::size_t before = text.rfind(clear, last - 1) + clear.size();
  EXPECT_EQ(last - before, 59u);
}

}  // namespace
}  // namespace fusegate::ci
