#include "ci/processes/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fusegate::ci {
namespace {

TEST(ParseProgressEvent, ReadsEachKind) {
  const auto event_of = [](const std::string& json) {
    return parse_progress_event("@fusegate " + json).value();
  };
  const ProgressEvent start = event_of(R"({"event":"start","total":60})");
  EXPECT_EQ(start.index, 0);
  EXPECT_EQ(start.total, 60);
  const ProgressEvent finished =
      event_of(R"({"event":"benchmark","index":3,"total":60,"benchmark":"a/b","time_ns":1.5})");
  EXPECT_EQ(finished.index, 3);
  EXPECT_EQ(finished.benchmark, "a/b");
  EXPECT_EQ(finished.failure, "");
  EXPECT_FALSE(finished.is_check);
  const ProgressEvent failed =
      event_of(R"({"event":"benchmark","index":3,"total":60,"benchmark":"a/b","failure":"wrong"})");
  EXPECT_EQ(failed.failure, "wrong");
  const ProgressEvent check =
      event_of(R"({"event":"check","index":3,"total":60,"benchmark":"a/b"})");
  EXPECT_TRUE(check.is_check);
  EXPECT_EQ(check.index, 3);
  EXPECT_EQ(check.benchmark, "a/b");
  EXPECT_EQ(event_of(R"({"event":"note","text":"left out a/b"})").note, "left out a/b");
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

// A plain line a process. Its own pace counts only while none has finished.
TEST_F(ProgressDisplayTest, EstimatesTheTimeLeftByFinishedProcesses) {
  ProgressDisplay shown = display(false, 3);
  shown.start_process("");
  seconds_ += 3;
  shown.show({1, 2, "a", ""});
  seconds_ += 3;
  shown.show({2, 2, "b", ""});
  shown.finish_process("");
  shown.start_process("");
  seconds_ += 10;
  shown.show({1, 2, "a", ""});
  seconds_ += 4;
  shown.finish_process("");
  shown.start_process("");
  seconds_ += 5;
  shown.finish_process("");
  EXPECT_EQ(written(),
            "process 1/3: finished in 6 s, 12 s left\n"
            "process 2/3: 50 %, 9 s left  a\n"
            "process 2/3: finished in 14 s, 10 s left\n"
            "process 3/3: finished in 5 s\n");
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

TEST_F(ProgressDisplayTest, SaysHowAProcessFailedAndIsNotMisledByIt) {
  ProgressDisplay shown = display(false, 3);
  shown.start_process("head");
  shown.finish_process("ended by signal 11");
  shown.start_process("head");
  seconds_ += 3;
  shown.finish_process("");
  EXPECT_EQ(written(),
            "process 1/3 (head): ended by signal 11, after 0 s\n"
            "process 2/3 (head): finished in 3 s, 3 s left\n");
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
