// Where the cells of a table go: a remark on a line of its own, what is long behind a fold, and
// below which width of the page a row becomes a block of several lines, each figure with its
// column's name, so that nothing scrolls sideways.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/table.h"

namespace fusegate::ci {

// Widths of a page, in rem. A table that needs more than the last is always blocks.
inline constexpr std::array kFits{22, 44, 66, 84};
// At 400 pixels a row stays below 120.
inline constexpr std::size_t kLongestRemark = 150;

struct FoldedText {
  std::string text;
  std::string rest{};  // behind a fold
  Tone tone = Tone::kPlain;
  std::string href{};
  bool operator==(const FoldedText&) const = default;
};

struct ShownColumn {
  std::size_t at = 0;  // in the table
  std::string header{};
  std::string label{};  // before its cells in a block
  bool is_number = false;
  bool is_code = false;
  bool is_head = false;  // names its row
  std::string size{};    // of a cell in a block: "long" is a whole line, "two" two parts of three
};

struct ShownRow {
  std::vector<FoldedText> cells;
  std::vector<FoldedText> remarks;
};

struct TableLayout {
  std::vector<ShownColumn> columns{};  // those that have any text
  std::optional<int> fit{};            // of kFits; nothing: always blocks
  bool is_dense = false;
  std::vector<FoldedText> shared{};  // remarks of every row
  std::vector<ShownRow> open{}, folded{};
};

TableLayout laid_out(const Table& table, std::size_t open_rows);

}  // namespace fusegate::ci
