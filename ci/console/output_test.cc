#include "ci/console/output.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fusegate::ci {
namespace {

std::string printed(const std::string& name, TextStyle style = {}) {
  std::ostringstream stream;
  Output(stream, style).print("{}: {}\n", name, 1.5);
  return stream.str();
}

std::string lines(const std::vector<std::string>& parts, TextStyle style = {}) {
  std::ostringstream stream;
  Output output(stream, style);
  for (const std::string& part : parts) output.lines(part);
  return stream.str();
}

TEST(Output, PrintsAnArgumentWithinItsLine) {
  EXPECT_EQ(printed("geglu"), "geglu: 1.5\n");
  EXPECT_EQ(printed("a\nNo regression in 5 benchmarks.\r"),
            "a\\nNo regression in 5 benchmarks.\\r: 1.5\n");
  EXPECT_EQ(printed("\x1b]0;title\a"), "\\x1b]0;title\\x07: 1.5\n");
}

TEST(Output, PrintsLinesAsTheyAreButForWhatATerminalActsOn) {
  EXPECT_EQ(lines({"a  b\n\n  c\n"}), "a  b\n\n  c\n");
  EXPECT_EQ(lines({"a\x1b[2J\n\u202eb\n"}), "a\\x1b[2J\n\\u202eb\n");
}

TEST(Output, GivesNoWorkflowItsCommands) {
  EXPECT_EQ(lines({"::error::x\n  ::stop-commands::y\na ::b\n"}),
            "\\x3a:error::x\n  \\x3a:stop-commands::y\na ::b\n");
  EXPECT_EQ(lines({"a ##[error]b ##[group]\n"}), "a ##\\x5berror]b ##\\x5bgroup]\n");
  // In parts.
  EXPECT_EQ(lines({"a\n", "  ", "::error::x", " ::y\n", "::z\n"}),
            "a\n  \\x3a:error::x ::y\n\\x3a:z\n");
  EXPECT_EQ(printed("::error::x"), "\\x3a:error::x: 1.5\n");
}

TEST(Output, KeepsItsOwnColoursOnATerminalThatHasThem) {
  const TextStyle terminal{.has_colours = true};
  const std::string red = coloured("red", Tone::kBad, terminal);
  EXPECT_EQ(red, "\x1b[31mred\x1b[0m");
  EXPECT_EQ(lines({red + "\n"}, terminal), red + "\n");
  EXPECT_EQ(lines({red + "\n"}), "\\x1b[31mred\\x1b[0m\n");
  EXPECT_EQ(lines({"\x1b[5m" + red + "\x1b\n"}, terminal), "\\x1b[5m" + red + "\\x1b\n");
  EXPECT_EQ(coloured("plain", Tone::kPlain, terminal), "plain");
  EXPECT_EQ(coloured("plain", Tone::kBad, {}), "plain");
}

TEST(Output, CutsAStatusLineToTheTerminal) {
  std::ostringstream stream;
  Output(stream).status_line("a\nbcdef", 6);
  EXPECT_EQ(stream.str(), "\r\x1b[Ka\\nbc");
}

TEST(Output, SaysWhetherAllWasWritten) {
  std::ostringstream stream;
  EXPECT_TRUE(Output(stream).finish());
  stream.setstate(std::ios::badbit);
  EXPECT_FALSE(Output(stream).finish());
}

}  // namespace
}  // namespace fusegate::ci
