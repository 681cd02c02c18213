#include "ci/console/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fusegate::ci {
namespace {

TEST(Table, AlignsColumnsAndDropsTrailingBlanks) {
  Table table({{"name"}, {"time", Align::kRight}, {"note"}});
  table.add_row({"a", "1.5 us", "slow"});
  table.add_row({"longer", "12.5 us", ""});
  EXPECT_EQ(table.text(),
            "name       time  note\n"
            "a        1.5 us  slow\n"
            "longer  12.5 us\n");
}

TEST(Table, GivesARowAsManyLinesAsATerminalNeeds) {
  Table table({{"verdict"}, {"name"}, {"time", Align::kRight}, {"why", Align::kLeft, false, true}});
  table.add_row({"slower", "a longer name", "1.5 us", "a remark of any length"});
  table.add_row({"ok", "b", "12.5 us", ""});
  const std::string wide =
      "verdict  name              time\n"
      "slower   a longer name   1.5 us\n"
      "ok       b              12.5 us\n"
      "\nslower: a remark of any length\n";
  EXPECT_EQ(table.text(9, {.columns = 31}), wide);
  EXPECT_EQ(table.text(9), wide);
  EXPECT_EQ(table.text(9, {.columns = 30}),
            "verdict  name\n       time\n"
            "slower   a longer name\n     1.5 us\n"
            "ok       b\n    12.5 us\n"
            "\nslower: a remark of any length\n");
  EXPECT_EQ(table.text(9, {.columns = 5}),
            "verdict\n    name\n       time\n"
            "slower\n    a longer name\n     1.5 us\n"
            "ok\n    b\n    12.5 us\n"
            "\nslower: a remark of any length\n");
}

TEST(Table, FurtherLinesShareWhatStandsInThem) {
  Table table({{"name"}, {"first"}, {"second"}, {"third"}, {"fourth"}});
  table.add_row({"a name as long as a line", "1", "2", "3", "4"});
  // As many as fit would be three and one.
  EXPECT_EQ(table.text(9, {.columns = 25}),
            "name\n    first  second\n    third  fourth\n"
            "a name as long as a line\n    1      2\n    3      4\n");
}

TEST(Table, ColoursCellsWhereThereAreColours) {
  Table table({{"verdict"}, {"x", Align::kRight}});
  table.add_row({{"ok", Tone::kGood}, {"1", Tone::kBad}});
  EXPECT_EQ(table.text(9, {.has_colours = true}),
            "verdict  x\n\x1b[32mok\x1b[0m       \x1b[31m1\x1b[0m\n");
  EXPECT_EQ(table.text(9), "verdict  x\nok       1\n");
}

TEST(Table, ACellIsOneLine) {
  Table table({{"name"}, {"x"}});
  table.add_row({"a\nb\x1b", "1"});
  EXPECT_EQ(table.text(), "name      x\na\\nb\\x1b  1\n");
  EXPECT_EQ(shared_lines({{"a\n", "\rb"}}), "a\\n: \\rb\n");
}

TEST(Table, CountsCodePointsAndNotBytes) {
  Table table({{"name"}, {"x"}});
  table.add_row({"\u00b5s", "1"});
  table.add_row({"abcd", "2"});
  EXPECT_EQ(table.text(), "name  x\n\u00b5s    1\nabcd  2\n");
}

TEST(Table, SaysHowManyRowsItLeavesOut) {
  Table table({{"name"}});
  for (const char* name : {"a", "b", "much longer"}) table.add_row({name});
  EXPECT_EQ(table.text(2), "name\na\nb\nand 1 more row\n");
}

TEST(Table, CountsWhatStandsAsideByItsName) {
  Table table({{"name"}});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    Cell cell = name;
    if (*name == 'b' || *name == 'd') cell.aside_of = "regressions of x";
    if (*name == 'c') cell.aside_of = "inconclusive";
    table.add_row({cell});
  }
  EXPECT_EQ(table.text(), "name\na\ne\nand 1 more inconclusive\nand 2 more regressions of x\n");
  EXPECT_EQ(table.text(1),
            "name\na\nand 1 more row\nand 1 more inconclusive\nand 2 more regressions of x\n");
}

TEST(Table, GivesARemarkThatManyShareOnceBelow) {
  Table table({{"verdict"}, {"name"}, {"why", Align::kLeft, false, true}});
  table.add_row({"invalid", "a", "the library is missing"});
  table.add_row({"invalid", "b", "the library is missing"});
  table.add_row({"missing", "c", "gone"});
  Cell aside = "its figures say it";
  aside.is_aside = true;
  table.add_row({"regression", "d", aside});
  EXPECT_EQ(table.text(),
            "verdict     name\ninvalid     a\ninvalid     b\nmissing     c\nregression  d\n"
            "\ninvalid: the library is missing (2 times)\nmissing: gone\n");
  EXPECT_EQ(table.text(1),
            "verdict  name\ninvalid  a\nand 3 more rows\n"
            "\ninvalid: the library is missing\n");
}

TEST(SharedLines, NameTheFirstOfManySubjects) {
  EXPECT_EQ(shared_lines({{"a", "x"}, {"b", "y"}, {"c", "x"}, {"d", "z"}}, 2),
            "a, and 1 more: x\nb: y\nand 1 more\n");
}

TEST(Table, RefusesARowOfAnotherWidth) {
  Table table({{"name"}});
  EXPECT_THROW(table.add_row({"a", "b"}), std::logic_error);
}

}  // namespace
}  // namespace fusegate::ci
