#include "ci/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace fusegate::ci {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Table one_row(std::vector<Column> columns, std::vector<Cell> cells) {
  Table table(std::move(columns));
  table.add_row(std::move(cells));
  return table;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    all.push_back((*at)[1]);
  }
  return all;
}

// Every kind of picture, with that name wherever a name goes.
std::vector<Picture> all_pictures(const std::string& name) {
  return {LinePicture{
              name, name, name, name, {{name, {{name, 0, {{1, 1}, {2, 2}}, {{1, name}}}}}}, name},
          MapPicture{name, name, name, name, {{name, {{{1}, 1, 1.5, name}}}}},
          RooflinePicture{
              name, name, name, Roof{1, name}, Roof{1, name}, {{1, 1, name, name, true, name}}},
          BarsPicture{{{name, {{name, 1, name}}}}},
          HistoryPicture{name, name, {1, 2}, {false, false}, {{1, name, true}}, name, name},
          StripPicture{name, name, {{name, true, 1, 0.5}}, name, name},
          TimelinePicture{name, 3, {{name, name, {{0, 1}}}}}};
}

TEST(Page, ShowsHeadlineSummaryFactsAndSections) {
  const std::string html =
      page_html({.title = "A title",
                 .outcome = "could not judge",
                 .headline = "A headline.",
                 .facts = {{"baseline", "x"},
                           {"candidate", "y"},
                           {"note", "one"},
                           {"note", "two"},
                           {"differs", {"driver", Tone::kBad}}},
                 .summary = "1 unchanged",
                 .sections = {{.title = "A b", .sentences = {"A sentence."}, .notes = {"A note"}},
                              {.title = "A, b", .sentences = {"s"}},
                              {.title = "C", .commands = {"fusegate show a"}},
                              {.title = "D", .sentences = {"s"}}}});
  EXPECT_THAT(html, HasSubstr("<div class=\"verdict could-not-judge\"><strong>could not "
                              "judge</strong> A headline.</div>"));
  EXPECT_THAT(html, HasSubstr("<summary>Baseline, candidate and 2 notes</summary>"));
  EXPECT_LT(html.find("driver"), html.find("<summary>Baseline"));
  EXPECT_THAT(matches(html, "<a href=\"#([^\"]+)\""),
              ElementsAre("section-a-b", "section-a-b-2", "section-c", "section-d"));
  EXPECT_THAT(matches(html, "<h2 id=\"([^\"]+)\""),
              ElementsAre("section-a-b", "section-a-b-2", "section-c", "section-d"));
  EXPECT_THAT(html, AllOf(HasSubstr("<p>1 unchanged.</p>"), HasSubstr("A sentence."),
                          HasSubstr("<li>A note</li>"), HasSubstr("fusegate show a\n</pre>")));
}

TEST(Page, LaysOutTables) {
  Cell name("a/b_c");
  name.href = "b/1.html";
  const std::string html =
      page_html({.sections = {{.table = one_row({{"name", Align::kLeft, true},
                                                 {"time", Align::kRight},
                                                 {"why", Align::kLeft, false, true}},
                                                {name, {"52.31 us", Tone::kBad}, "a reason"})}}});
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\" role=\"rowheader\" class=\"name long\"><a "
                              "href=\"b/1.html\">a/<wbr>b_<wbr>c</a></th><td role=\"cell\" "
                              "class=\"number bad\" data-label=\"time\">52.31 us</td>"));
  EXPECT_THAT(html, HasSubstr("class=\"remark\"><td role=\"cell\" colspan=\"2\">a reason</td>"));
}

TEST(Page, FoldsWhatIsFolded) {
  const Section inner{.title = "inner", .sentences = {"s"}, .fold = Fold::kAlways};
  EXPECT_THAT(page_html({.sections = {{.title = "open", .parts = {inner}}}}),
              HasSubstr("<details><summary>inner</summary>"));
}

TEST(Page, LetsNoNameBreakOut) {
  const std::string evil = "\"><script>alert(1)</script><b title='</title></style>\n\x1b[31m";
  Cell cell(evil);
  cell.href = "\"onclick=\"alert(1)";
  const Section section{.title = evil,
                        .sentences = {evil},
                        .notes = {evil},
                        .table = one_row({{evil, Align::kLeft, true}, {evil}}, {cell, evil}),
                        .commands = {evil},
                        .pictures = all_pictures(evil),
                        .parts = {{.title = evil, .sentences = {evil}, .fold = Fold::kAlways}}};
  const std::string html = page_html({.title = evil,
                                      .outcome = evil,
                                      .headline = evil,
                                      .facts = {{evil, cell}},
                                      .summary = evil,
                                      .sections = {section}},
                                     {.assets = evil, .scripts = {evil}, .links = {{evil, evil}}});
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("<b ")));
  EXPECT_THAT(html, Not(HasSubstr("\"onclick")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_EQ(matches(html, "<(script)[ >]").size(), 2u);
  EXPECT_GT(matches(html, "(&lt;script&gt;)").size(), 30u);
}

TEST(Page, NeedsNothingButItself) {
  const std::string html = page_html({.sections = {{.pictures = all_pictures("a")}}});
  EXPECT_THAT(matches(html, "<(link|iframe|object|embed)"), ElementsAre());
  EXPECT_THAT(matches(html, "(?:href|src)=\"([a-z]+:[^\"]*)"), ElementsAre());
  EXPECT_THAT(html, Not(HasSubstr("<script src")));
  EXPECT_THAT(html, AllOf(HasSubstr("<style>"), HasSubstr("<script>")));
}

TEST(Page, NamesItsFilesWhereTheyLieBeside) {
  const std::string html = page_html(
      {.title = "t"},
      {.assets = "../", .scripts = {"../nights.js"}, .links = {{"Nights", "../index.html"}}});
  EXPECT_THAT(html, AllOf(HasSubstr("href=\"../style.css\""), HasSubstr("src=\"../page.js\""),
                          HasSubstr("src=\"../nights.js\""),
                          HasSubstr("<a href=\"../index.html\">Nights</a>")));
  EXPECT_LT(html.size(), 900u);  // hundreds of them are small
}

}  // namespace
}  // namespace fusegate::ci
