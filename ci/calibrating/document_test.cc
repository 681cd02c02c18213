#include "ci/calibrating/document.h"

#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

std::vector<Section> example() {
  return {{.title = "", .sentences = {"First.", "Second."}, .columns = {}, .rows = {}},
          {.title = "A table",
           .sentences = {"Of two rows."},
           .columns = {{"name"}, {"value", Align::kRight}},
           .rows = {{"a_b|c", "1"}, {"< 3 us", "23 %"}}}};
}

TEST(PlainText, LinesUpColumns) {
  EXPECT_EQ(plain_text(example()),
            "First.\nSecond.\n\nA table\nOf two rows.\n"
            "name    value\na_b|c       1\n< 3 us   23 %\n");
}

TEST(MarkdownDocument, EscapesWhatWouldBreakATable) {
  EXPECT_EQ(markdown_document(example()),
            "First.\nSecond.\n\n## A table\n\nOf two rows.\n\n"
            "| name | value |\n| --- | ---: |\n| a_b\\|c | 1 |\n| &lt; 3 us | 23 % |\n");
}

TEST(Document, LeavesOutATableWithoutRows) {
  const std::vector<Section> document{
      {.title = "t", .sentences = {"s"}, .columns = {{"name"}}, .rows = {}}};
  EXPECT_EQ(plain_text(document), "t\ns\n");
  EXPECT_EQ(markdown_document(document), "## t\n\ns\n");
}

}  // namespace
}  // namespace fusegate::ci
