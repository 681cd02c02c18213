#include "ci/console/markdown_escape.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

TEST(MarkdownEscape, ShowsTextAndDoesNothingElse) {
  const std::vector<std::pair<std::string, std::string>> cases{
      // An ordinary name as it is.
      {markdown_code("geglu_mlp/fused/bf16/batch:64"), "`geglu_mlp/fused/bf16/batch:64`"},
      {markdown_code("BM_copy<float>/8"), "`BM_copy<float>/8`"},
      // A table's cells stay apart.
      {markdown_code("a|b"), "`a\\|b`"},
      {markdown_code("a\nb"), "<code>a&#92;nb</code>"},
      // Code cannot be left from inside.
      {markdown_code("a` <b>"), "<code>a&#96; &#60;b&#62;</code>"},
      {markdown_code("a\\|b"), "<code>a&#92;&#124;b</code>"},
      // No markup and no HTML.
      {markdown_text("5 % slower, in time"), "5 % slower, in time"},
      {markdown_text("<img src=x>"), "&#60;img src=x&#62;"},
      {markdown_text("**a** [b](c)"), "&#42;&#42;a&#42;&#42; &#91;b&#93;(c)"},
      {markdown_text("![a](b \"c\")"), "!&#91;a&#93;(b \"c\")"},
      {markdown_text("a\r\n\nb"), "a&#92;r&#92;n&#92;nb"},
      {markdown_text("\x1b[31m\u202e"), "&#92;x1b&#91;31m&#92;u202e"},
      // Underscores within words stay.
      {markdown_text("fused_epilogue_sm80"), "fused_epilogue_sm80"},
      {markdown_text("_a_ b__c d_"), "&#95;a&#95; b&#95;&#95;c d&#95;"},
      // Nobody is mentioned or linked.
      {markdown_text("@team"), "@\u200bteam"},
      {markdown_text("http://x"), "http&#58;//x"},
      {markdown_text("a WWW.x.org"), "a WWW&#46;x.org"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace fusegate::ci
