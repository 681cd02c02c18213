// A table of cells that are text already (format.h), for every writer of the house: its own plain
// text, and the writers of ci/document/document.h.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ci/console/terminal.h"

namespace fusegate::ci {

enum class Align { kLeft, kRight };

struct Column {
  std::string header;
  Align align = Align::kLeft;
  bool is_code = false;  // names of a program's things, set apart where a format can
  // Long: a terminal has it below the table, once for all rows that share it, so that rows fit.
  bool is_remark = false;
};

struct Cell {
  Cell(std::string text, Tone tone = Tone::kPlain) : text(std::move(text)), tone(tone) {}
  Cell(std::string_view text) : text(text) {}
  Cell(const char* text) : text(text) {}
  // What they say; the tone aside.
  friend bool operator==(const Cell& a, const Cell& b) { return a.text == b.text; }

  std::string text;
  Tone tone = Tone::kPlain;
  // Of a remark: a terminal leaves it out, because the row's figures say it.
  bool is_aside = false;
  // Of a row's first cell: a terminal leaves the row out, as others of its kind stand for it, and
  // counts it by this name: "and 9 more regressions of geglu/fused/bf16".
  std::string aside_of{};
  std::string href{};  // where a page links it to
};

// Prefixes what is said once for many: "invalid: the library is missing (3 times)", "a, and 2
// more: another kernel". lines: a subject and what is said of it. At most `limit` lines, and one
// that says how many are left out.
std::string shared_lines(const std::vector<std::pair<std::string, std::string>>& lines,
                         std::size_t limit = std::numeric_limits<std::size_t>::max());

class Table {
 public:
  Table() = default;
  explicit Table(std::vector<Column> columns);

  // cells: one a column. What they say becomes one printable line each.
  void add_row(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  // The header, then at most `limit` rows, lined up, each ended by a newline, without trailing
  // blanks; then how many are left out, and of what; then the remarks of the rows that are shown.
  // Where the style's columns are fewer than a row has, each row takes as many lines as it needs,
  // the same columns in each, and those after its first are indented.
  std::string text(std::size_t limit = std::numeric_limits<std::size_t>::max(),
                   const TextStyle& style = {}) const;

 private:
  using Row = std::vector<Cell>;
  // A column in the text.
  struct ColumnLayout {
    bool is_shown = true;  // false for a remark
    std::size_t width = 0;
    bool starts_line = false;
  };

  static std::size_t break_lines(std::span<ColumnLayout> layouts, std::size_t limit,
                                 std::size_t indent);
  std::vector<ColumnLayout> laid_out(const std::vector<const Row*>& shown,
                                     std::size_t columns) const;
  std::string lines(const std::vector<ColumnLayout>& layouts, const Row& cells,
                    const TextStyle& style) const;
  std::string remarks(const std::vector<const Row*>& shown) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace fusegate::ci
