#include "baselines/io/printable.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace fusegate::baselines {
namespace {

using std::string_literals::operator""s;

TEST(Printable, EscapesWhatATerminalOrALogActsOn) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"geglu_mlp/fused/bf16/batch:64", "geglu_mlp/fused/bf16/batch:64"},
      {"", ""},
      {"\u00b5s, \u03bb, \U0001F600", "\u00b5s, \u03bb, \U0001F600"},
      {"a\x1b[31mred", "a\\x1b[31mred"},
      {"\a\b\x7f", "\\x07\\x08\\x7f"},
      {"a\0b"s, "a\\x00b"},
      {"a\r\nb\tc", "a\\r\\nb\\tc"},
      {"\u009b31m", "\\u009b31m"},    // C1's CSI
      {"\x9b\x33\x31m", "\\x9b31m"},  // the same as a byte
      {"\u202egnp.exe", "\\u202egnp.exe"},
      {"a\u2028b\u2066c\u200fd\u061ce", "a\\u2028b\\u2066c\\u200fd\\u061ce"},
      // No UTF-8: cut short, overlong, a surrogate, beyond Unicode.
      {"\xe2\x80", "\\xe2\\x80"},
      {"\xc0\x9b", "\\xc0\\x9b"},
      {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(printable(text), expected);
    EXPECT_EQ(printable(expected), expected) << "twice";
  }
}

TEST(Printable, LeavesLinesTheirNewlines) {
  EXPECT_EQ(printable_lines("a\tb\n\x1b[2Jc\r\n"), "a\tb\n\\x1b[2Jc\\r\n");
}

TEST(Printable, AnExcerptLosesItsMiddle) {
  EXPECT_EQ(printable_excerpt("short\n", 20), "short\\n");
  EXPECT_EQ(printable_excerpt(std::string(130'000, 'a') + "end", 15), "aaaaa ... aaend");
  // Not within a character.
  EXPECT_EQ(printable_excerpt("aaaa\u00b5bbbbbb\u00b5cccc", 15), "aaaa ... cccc");
}

}  // namespace
}  // namespace fusegate::baselines
