#include "ci/page/table_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fusegate::ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Table filled(std::vector<Column> columns, std::vector<std::vector<Cell>> rows) {
  Table table(std::move(columns));
  for (auto& row : rows) table.add_row(std::move(row));
  return table;
}

Table remarked(const std::vector<std::string>& remarks) {
  std::vector<std::vector<Cell>> rows;
  for (const std::string& remark : remarks) rows.push_back({"a", remark});
  return filled({{"name", Align::kLeft, true}, {"why", Align::kLeft, false, true}}, rows);
}

Table figures(std::size_t columns) {
  return filled(std::vector<Column>(columns, {"n", Align::kRight}),
                {std::vector<Cell>(columns, Cell("123.4 us"))});
}

std::vector<std::string> texts(const std::vector<FoldedText>& list) {
  std::vector<std::string> all;
  for (const FoldedText& one : list) all.push_back(one.text);
  return all;
}

TEST(TableLayout, GivesRemarksALineOfTheirOwn) {
  const TableLayout layout = laid_out(remarked({"one", "two", ""}), 20);
  ASSERT_EQ(layout.columns.size(), 1u);
  EXPECT_THAT(texts(layout.open[0].remarks), ElementsAre("one"));
  EXPECT_THAT(layout.open[2].remarks, IsEmpty());
}

TEST(TableLayout, SaysOnceWhatAllRowsShare) {
  const TableLayout layout = laid_out(remarked({"same", "same"}), 20);
  EXPECT_THAT(texts(layout.shared), ElementsAre("same"));
  EXPECT_THAT(layout.open[0].remarks, IsEmpty());
  EXPECT_THAT(laid_out(remarked({"alone"}), 20).shared, IsEmpty());
}

TEST(TableLayout, FoldsLongTextWhereAClauseEnds) {
  std::string text = "reaches past 0.15 %; ";
  for (int i = 0; i < 30; ++i) text += "a choice, ";
  const FoldedText remark = laid_out(remarked({text}), 20).open[0].remarks[0];
  EXPECT_LE(remark.text.size(), kLongestRemark);
  EXPECT_TRUE(remark.text.ends_with(", "));
  EXPECT_EQ(remark.text + remark.rest, text);
}

TEST(TableLayout, CutsNoCharacterInTwo) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "\u00e9";
  const FoldedText remark = laid_out(remarked({text}), 20).open[0].remarks[0];
  EXPECT_EQ(remark.text + remark.rest, text);
  EXPECT_EQ(remark.text.size() % 2, 0u);
}

TEST(TableLayout, MakesRemarksOfWhatIsLongInADenseTable) {
  std::vector<Column> columns(12, {"n", Align::kRight});
  std::vector<Cell> row(12, Cell("1"));
  columns.push_back({"class"});
  row.emplace_back("memory-bound, launch-bound on a stream");
  const TableLayout layout = laid_out(filled(columns, {row}), 20);
  EXPECT_TRUE(layout.is_dense);
  EXPECT_THAT(texts(layout.open[0].remarks),
              ElementsAre("class: memory-bound, launch-bound on a stream"));
}

TEST(TableLayout, LeavesOutColumnsWithoutTextAndNamesFigures) {
  const TableLayout layout = laid_out(
      filled({{"verdict"}, {"name", Align::kLeft, true}, {"effect", Align::kRight}, {"failure"}},
             {{"regression", "a", "1 %", ""}}),
      20);
  ASSERT_EQ(layout.columns.size(), 3u);
  EXPECT_EQ(layout.columns[0].label, "");
  EXPECT_TRUE(layout.columns[1].is_head);
  EXPECT_EQ(layout.columns[2].label, "effect");
}

TEST(TableLayout, BecomesBlocksEarlierTheMoreItNeeds) {
  EXPECT_EQ(laid_out(figures(3), 20).fit, 22);
  EXPECT_EQ(laid_out(figures(6), 20).fit, 44);
  EXPECT_EQ(laid_out(figures(14), 20).fit, 84);
  EXPECT_EQ(laid_out(figures(40), 20).fit, std::nullopt);
}

TEST(TableLayout, FoldsRowsButNotOneAlone) {
  for (const auto& [rows, open] : {std::pair(6u, 6u), {7u, 7u}, {8u, 6u}}) {
    const TableLayout layout = laid_out(remarked(std::vector<std::string>(rows)), 6);
    EXPECT_EQ(layout.open.size(), open);
    EXPECT_EQ(layout.folded.size(), rows - open);
  }
}

}  // namespace
}  // namespace fusegate::ci
