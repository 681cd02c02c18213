#include "ci/console/markdown_escape.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

TEST(MarkdownCode, ShowsAnOrdinaryNameAsItIs) {
  EXPECT_EQ(markdown_code("geglu_mlp/fused/bf16/batch:64"), "`geglu_mlp/fused/bf16/batch:64`");
  EXPECT_EQ(markdown_code("BM_copy<float>/8"), "`BM_copy<float>/8`");
}

TEST(MarkdownCode, KeepsATablesCellsApart) {
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_code("a\nb"), "`a b`");
}

TEST(MarkdownCode, CannotBeLeftFromInside) {
  EXPECT_EQ(markdown_code("a` <b>"), "<code>a&#96; &#60;b&#62;</code>");
  EXPECT_EQ(markdown_code("a\\|b"), "<code>a&#92;&#124;b</code>");
}

TEST(MarkdownText, HasNoMarkupAndNoHtml) {
  EXPECT_EQ(markdown_text("5 % slower, in time"), "5 % slower, in time");
  EXPECT_EQ(markdown_text("<img src=x>"), "&#60;img src=x&#62;");
  EXPECT_EQ(markdown_text("**a** [b](c)"), "&#42;&#42;a&#42;&#42; &#91;b&#93;(c)");
  EXPECT_EQ(markdown_text("![a](b \"c\")"), "!&#91;a&#93;(b \"c\")");
  EXPECT_EQ(markdown_text("a\r\n\nb"), "a   b");
}

TEST(MarkdownText, LeavesUnderscoresWithinWords) {
  EXPECT_EQ(markdown_text("fused_epilogue_sm80"), "fused_epilogue_sm80");
  EXPECT_EQ(markdown_text("_a_ b__c d_"), "&#95;a&#95; b&#95;&#95;c d&#95;");
}

TEST(MarkdownText, MentionsAndLinksNobody) {
  EXPECT_EQ(markdown_text("@team"), "@\u200bteam");
  EXPECT_EQ(markdown_text("http://x"), "http&#58;//x");
  EXPECT_EQ(markdown_text("a WWW.x.org"), "a WWW&#46;x.org");
}

}  // namespace
}  // namespace fusegate::ci
