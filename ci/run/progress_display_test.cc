#include "ci/run/progress_display.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fusegate::ci {
namespace {

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

TEST_F(ProgressDisplayTest, WritesOnePlainLineAnInvocation) {
  ProgressDisplay shown = display(false, 2);
  shown.start_process("");
  seconds_ += 1;
  shown.show({1, 2, "a", ""});
  seconds_ += 1;
  shown.show({2, 2, "b", ""});
  shown.finish_process("");
  EXPECT_EQ(written(), "invocation 1/2: 2 places in 2 s, 2 s left\n");
}

TEST_F(ProgressDisplayTest, WritesAPlainLineBetweenAtMostEveryTenSeconds) {
  ProgressDisplay shown = display(false, 1);
  shown.start_process("");
  for (int i = 1; i <= 6; ++i) {
    seconds_ += 4;
    shown.show({i, 6, "a/b", ""});
  }
  EXPECT_EQ(written(),
            "invocation 1/1, place 3/6, 12 s left  a/b\n"
            "invocation 1/1, place 6/6, 0 s left  a/b\n");
}

TEST_F(ProgressDisplayTest, SaysInALogWhatIsWaitedFor) {
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
            "invocation 1/2, checking results, benchmark 1/3  a/b, 13 s so far\n"
            "invocation 1/2, checking results, benchmark 1/3  a/b, 25 s so far\n");
  shown.finish_process("");
  EXPECT_TRUE(written().ends_with("invocation 1/2: 0 places in 29 s, 29 s left\n")) << written();
}

TEST_F(ProgressDisplayTest, ShowsAFailureAtOnce) {
  ProgressDisplay shown = display(false, 1);
  shown.start_process("");
  shown.show({1, 2, "a", "wrong results"});
  EXPECT_EQ(written(), "a failed: wrong results\n");
}

TEST_F(ProgressDisplayTest, SaysHowAnInvocationFailed) {
  ProgressDisplay shown = display(false, 2);
  shown.start_process("head");
  shown.finish_process("ended by signal 11");
  EXPECT_EQ(written(), "invocation 1/2 (head): ended by signal 11 in 0 s\n");
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
  EXPECT_TRUE(text.starts_with(clear + "invocation 1/2" + clear + "invocation 1/2, place 1/2"));
  EXPECT_TRUE(text.ends_with(std::string("x") + clear));  // the end leaves the line empty
  const std::size_t last = text.rfind(clear);
  const std::size_t before = text.rfind(clear, last - 1) + clear.size();
  EXPECT_EQ(last - before, 59u);
}

}  // namespace
}  // namespace fusegate::ci
