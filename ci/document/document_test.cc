#include "ci/document/document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table table(std::vector<std::vector<Cell>> rows) {
  Table table({{"name"}, {"value", Align::kRight}});
  for (auto& row : rows) table.add_row(std::move(row));
  return table;
}

std::vector<Section> example() {
  return {{.sentences = {"First.", "Second."}},
          {.title = "A table",
           .sentences = {"Of two rows."},
           .notes = {"a note"},
           .table = table({{"a_b|c", "1"}, {"< 3 us", "23 %"}})}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(TerminalText, LinesUpColumns) {
  EXPECT_EQ(terminal_text(example()),
            "First.\nSecond.\n\nA table\nOf two rows.\n- a note\n"
            "name    value\na_b|c       1\n< 3 us   23 %\n");
}

TEST(TerminalText, EndsWithTheSummary) {
  const Document document{.title = "not shown",
                          .headline = "A headline.",
                          .facts = {{"baseline", "base"}, {"candidate", "head"}},
                          .summary = "1 regression",
                          .sections = example()};
  const std::string text = terminal_text(document);
  EXPECT_TRUE(text.starts_with("A headline.\n\nbaseline   base\ncandidate  head\n\nFirst.\n"))
      << text;
  EXPECT_TRUE(text.ends_with("23 %\n\n1 regression\n")) << text;
}

TEST(TerminalText, IsOfLinesThatDoNothingElse) {
  const Document document{.headline = "A\nheadline",
                          .facts = {{"lab\nel", "te\x1bxt"}},
                          .summary = "sum\rmary",
                          .sections = {{.title = "tit\nle", .sentences = {"a\n::error::x"}}}};
  EXPECT_EQ(terminal_text(document),
            "A\\nheadline\n\nlab\\nel    te\\x1bxt\n\ntit\\nle\na\\n::error::x\n\nsum\\rmary\n");
}

TEST(TerminalText, ColoursItsHeadlineByWhatCameOut) {
  const TextStyle style{.has_colours = true};
  EXPECT_EQ(terminal_text(Document{.outcome = "regression", .headline = "h"}, style),
            "\x1b[31mh\x1b[0m\n");
  EXPECT_EQ(terminal_text(Document{.outcome = "pass", .headline = "h"}, style),
            "\x1b[32mh\x1b[0m\n");
  EXPECT_EQ(terminal_text(Document{.outcome = "pass", .headline = "h"}), "h\n");
}

TEST(TerminalText, HasAsManyRowsAsFitAndSaysHowManyMore) {
  std::vector<Section> sections = example();
  sections[1].terminal_rows = 1;
  EXPECT_THAT(terminal_text(sections), HasSubstr("a_b|c      1\nand 1 more row\n"));
  sections[1].terminal_rows = 0;
  EXPECT_EQ(terminal_text(sections), "First.\nSecond.\n");
}

TEST(TerminalText, SaysOnceWhatManyRowsSay) {
  const Section section{.table = table({{"a", "same"}, {"b", "other"}, {"c", "same"}}),
                        .is_lines = true};
  EXPECT_EQ(terminal_text({section}), "a, and 1 more: same\nb: other\n");
}

TEST(Markdown, IsATableWhateverItsCellsHold) {
  EXPECT_EQ(markdown({.sections = example()}),
            "First.\nSecond.\n\n## A table\n\nOf two rows.\n\n- a note\n\n"
            "| name | value |\n| --- | ---: |\n| a_b&#124;c | 1 |\n| &#60; 3 us | 23 % |\n");
}

TEST(Markdown, HasHeadlineSummaryAndWarningsFirst) {
  const Document document{.title = "<title>",
                          .mark = "!",
                          .headline = "A headline.",
                          .facts = {{"differs", {"driver", Tone::kBad}}, {"baseline", "a|b"}},
                          .summary = "1 regression",
                          .sections = example()};
  EXPECT_THAT(markdown(document),
              ::testing::StartsWith("## &#60;title&#62;\n\n! **A headline.**\n\n1 regression.\n\n"
                                    "- differs: driver\n\nFirst.\n"));
  EXPECT_THAT(markdown(document), ::testing::EndsWith("\n<details><summary>Baseline</summary>\n\n"
                                                      "- baseline: a&#124;b\n\n</details>\n"));
  EXPECT_THAT(markdown(document), HasSubstr("\n### A table\n"));
}

TEST(Markdown, IsOneLineWhereNothingMoved) {
  const Section folded{.title = "2 unchanged", .sentences = {"s"}, .fold = Fold::kAlways};
  Document document{.title = "t",
                    .outcome = "pass",
                    .mark = "+",
                    .headline = "No regression in 2 benchmarks.",
                    .facts = {{"baseline", "b"}, {"note", "n"}},
                    .summary = "2 unchanged",
                    .sections = {folded}};
  EXPECT_EQ(markdown(document),
            "+ **No regression in 2 benchmarks.**\n\n<details><summary>Baseline and 1 "
            "note</summary>\n\n- baseline: b\n- note: n\n\n</details>\n\n<details><summary>2 "
            "unchanged</summary>\n\ns\n\n</details>\n");
  document.sections.push_back({.title = "Verdicts", .sentences = {"an improvement"}});
  EXPECT_THAT(markdown(document), ::testing::StartsWith("## t\n\n+ **No regression"));
}

TEST(Markdown, FoldsNoFactsWhereThereIsNothingElse) {
  EXPECT_EQ(markdown({.facts = {{"effect", {"+2 %"}}, {"since", {"monday"}}}}),
            "\n- effect: +2 %\n- since: monday\n");
}

TEST(Markdown, PutsWhatIsFoldedLast) {
  Section open = example()[1];
  Section folded{.title = "more", .table = table({{"x", "1"}}), .fold = Fold::kAlways};
  folded.parts = {{.title = "inner", .sentences = {"deep"}, .fold = Fold::kInMarkdown}};
  open.parts = {folded};
  const std::string text = markdown({.sections = {open, {.title = "last", .sentences = {"end"}}}});
  EXPECT_THAT(text, HasSubstr("\n## last\n\nend\n\n<details><summary>more</summary>\n\n| name |"));
  EXPECT_THAT(text, ::testing::EndsWith(
                        "| x | 1 |\n\n</details>\n\n<details><summary>inner</summary>\n\ndeep\n\n"
                        "</details>\n"));
}

TEST(Markdown, HasNoHeadingOfWhatIsFoldedOrOnThePageAlone) {
  Section section{.title = "parts"};
  section.parts = {{.title = "page", .sentences = {"a"}, .is_page_only = true},
                   {.title = "folded", .sentences = {"b"}, .fold = Fold::kAlways}};
  EXPECT_EQ(markdown({.sections = {section}}),
            "<details><summary>folded</summary>\n\nb\n\n</details>\n");
}

TEST(Markdown, StaysBelowTheLimitAndSaysWhatIsMissing) {
  Section long_one = example()[1];
  for (int i = 0; i < 2000; ++i) long_one.table.add_row({fmt::format("row {}", i), "1"});
  Section folded = example()[1];
  folded.fold = Fold::kAlways;
  const Document document{.title = "t", .sections = {long_one, folded}};
  const std::string text = markdown(document, 10'000);
  EXPECT_LE(text.size(), 10'000u);
  EXPECT_THAT(text, HasSubstr("| row 0 |"));
  EXPECT_THAT(text, Not(HasSubstr("| row 1999 |")));
  EXPECT_THAT(text, HasSubstr("table rows left out"));
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
  EXPECT_THAT(markdown(document), HasSubstr("| row 1999 |"));
}

TEST(Markdown, ShortensWhatWouldCrowdOutTheRest) {
  const Document document{.title = "t", .headline = std::string(1000, 'x')};
  EXPECT_THAT(markdown(document, 10'000), HasSubstr(std::string(300, 'x') + "...**"));
  EXPECT_THAT(markdown(document), HasSubstr(std::string(1000, 'x')));
}

TEST(Document, LeavesOutATableWithoutRows) {
  const std::vector<Section> sections{{.title = "t", .sentences = {"s"}, .table = table({})}};
  EXPECT_EQ(terminal_text(sections), "t\ns\n");
  EXPECT_EQ(markdown({.sections = sections}), "## t\n\ns\n");
}

TEST(Document, ComesOnThePageWithWhatMostPeopleComeForAndWithoutWhatIsEmpty) {
  const auto titled = [](const char* title, PageOrder order) {
    Section section{.title = title, .sentences = {"s"}};
    section.page_order = order;
    return section;
  };
  std::vector<std::string> titles;
  for (const Section& section : in_page_order({titled("third", PageOrder::kAsListed),
                                               titled("second", PageOrder::kSecond),
                                               {.title = "empty"},
                                               titled("fourth", PageOrder::kAsListed),
                                               titled("first", PageOrder::kFirst)})) {
    titles.push_back(section.title);
  }
  EXPECT_THAT(titles, testing::ElementsAre("first", "second", "third", "fourth"));
}

TEST(Document, HasCommandsOnLinesOfTheirOwn) {
  const std::vector<Section> sections{{.title = "t", .commands = {"a \x1b"}}};
  EXPECT_EQ(terminal_text(sections), "t\n  a \\x1b\n");
  EXPECT_EQ(markdown({.sections = sections}), "## t\n\n- <code>a &#92;x1b</code>\n");
}

}  // namespace
}  // namespace fusegate::ci
