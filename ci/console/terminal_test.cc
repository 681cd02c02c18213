#include "ci/console/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "baselines/io/file_descriptor.h"

namespace fusegate::ci {
namespace {

// A terminal of that width, and no variable that says otherwise.
class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() {
    for (const char* name : {"COLUMNS", "NO_COLOR"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
    EXPECT_EQ(grantpt(master_.get()) + unlockpt(master_.get()), 0);
    terminal_ = baselines::FileDescriptor(::open(ptsname(master_.get()), O_RDWR | O_NOCTTY));
    const winsize size{.ws_row = 24, .ws_col = 97, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(ioctl(terminal_.get(), TIOCSWINSZ, &size), 0);
  }
  int terminal() const { return terminal_.get(); }

 private:
  baselines::FileDescriptor master_{posix_openpt(O_RDWR | O_NOCTTY)};
  baselines::FileDescriptor terminal_;
};

TEST_F(TerminalTest, SaysHowWideItIsUnlessTheEnvironmentDoes) {
  EXPECT_EQ(text_style(terminal()).columns, 97U);
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(text_style(terminal()).columns, 60U);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(text_style(terminal()).columns, 97U);
}

TEST_F(TerminalTest, HasColoursUnlessTheEnvironmentSaysNo) {
  EXPECT_TRUE(text_style(terminal()).has_colours);
  setenv("NO_COLOR", "", 1);  // as if it were not there
  EXPECT_TRUE(text_style(terminal()).has_colours);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(text_style(terminal()).has_colours);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(text_style(terminal()).has_colours);
}

TEST_F(TerminalTest, IsNotWhatAFileIs) {
  setenv("COLUMNS", "60", 1);
  const baselines::FileDescriptor file(::open("/dev/null", O_WRONLY));
  EXPECT_EQ(text_style(file.get()).columns, kAnyWidth);
  EXPECT_FALSE(text_style(file.get()).has_colours);
}

}  // namespace
}  // namespace fusegate::ci
