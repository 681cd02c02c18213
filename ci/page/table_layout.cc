#include "ci/page/table_layout.h"

#include <algorithm>
#include <string_view>

namespace fusegate::ci {
namespace {

// As many columns make a table dense: its blocks have three figures in a line, and its long texts
// are remarks.
constexpr std::size_t kDenseColumns = 10;
// Characters of a label and its text that share a line of a block with another, and with two.
constexpr std::size_t kHalfALine = 26, kThirdOfALine = 17;
// Longer texts show their beginning.
constexpr std::size_t kLongestText = 100, kLongestHead = 84, kLongestName = 70;
constexpr std::size_t kLeastFolded = 24;  // characters; fewer are not worth a fold
constexpr double kCharacterRem = 0.5, kGapRem = 0.75;
constexpr std::size_t kNarrowestText = 30;  // characters, to which a text may be wrapped

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::size_t longest(const Table& table, std::size_t column) {
  std::size_t most = 0;
  for (const auto& row : table.rows()) most = std::max(most, characters(row[column].text));
  return most;
}

// Where a clause, a word or a part of a name ends.
std::size_t cut_of(std::string_view text, std::size_t most) {
  const std::string_view start = text.substr(0, most);
  for (const std::string_view end : {"; ", ", "}) {
    const std::size_t at = start.rfind(end);
    if (at != start.npos && at + end.size() > most / 3) return at + end.size();
  }
  const std::size_t at = start.find_last_of(" /,");
  if (at != start.npos && at + 1 > most / 3) return at + 1;
  while (most > 0 && !starts_character(text[most])) --most;
  return most;
}

FoldedText folded(const std::string& text, std::size_t limit) {
  if (characters(text) <= limit) return {text};
  const std::size_t cut = cut_of(text, limit - kLeastFolded);
  return {text.substr(0, cut), text.substr(cut)};
}

FoldedText shown_cell(const Cell& cell, const ShownColumn& column) {
  FoldedText shown = folded(cell.text, !column.is_code  ? kLongestText
                                       : column.is_head ? kLongestHead
                                                        : kLongestName);
  shown.tone = cell.tone;
  shown.href = cell.href;
  return shown;
}

double needed_rem(const Table& table, const ShownColumn& column) {
  const std::size_t text = longest(table, column.at);
  if (!column.is_number) {
    return kCharacterRem *
           static_cast<double>(std::min(std::max(text, column.header.size()), kNarrowestText));
  }
  std::size_t word = 0, start = 0;  // a header may be broken
  for (std::size_t i = 0; i <= column.header.size(); ++i) {
    if (i < column.header.size() && column.header[i] != ' ' && column.header[i] != '_') continue;
    word = std::max(word, i - start);
    start = i + 1;
  }
  return kCharacterRem * static_cast<double>(std::max(text, word));
}

class Layouter {
 public:
  Layouter(const Table& table, std::size_t open_rows) : table_(table) {
    choose_columns();
    std::vector<ShownRow> rows;
    for (const auto& row : table.rows()) rows.push_back(shown_row(row));
    share_remarks(&rows);
    // One alone is no shorter folded.
    const std::size_t open =
        rows.size() <= open_rows + 1 ? rows.size() : std::min(open_rows, rows.size());
    layout_.folded.assign(rows.begin() + static_cast<std::ptrdiff_t>(open), rows.end());
    rows.resize(open);
    layout_.open = std::move(rows);
  }

  TableLayout take() && { return std::move(layout_); }

 private:
  void choose_columns() {
    std::vector<std::size_t> seen;
    for (std::size_t i = 0; i < table_.columns().size(); ++i) {
      if (longest(table_, i) > 0) seen.push_back(i);
    }
    layout_.is_dense = static_cast<std::size_t>(std::ranges::count_if(seen, [&](std::size_t i) {
                         return !table_.columns()[i].is_remark;
                       })) >= kDenseColumns;
    for (const std::size_t i : seen) {
      const Column& column = table_.columns()[i];
      const bool is_text = !column.is_code && column.align == Align::kLeft;
      if (column.is_remark || (layout_.is_dense && is_text && longest(table_, i) > kHalfALine)) {
        remarks_.push_back(i);
      } else {
        layout_.columns.push_back({.at = i,
                                   .header = column.header,
                                   .is_number = column.align == Align::kRight,
                                   .is_code = column.is_code});
      }
    }
    name_columns();
  }

  void name_columns() {
    std::vector<ShownColumn>& columns = layout_.columns;
    if (columns.empty()) return;
    auto head = std::ranges::find(columns, true, &ShownColumn::is_code);
    if (head == columns.end()) head = columns.begin();
    head->is_head = true;
    double needed = 0;
    for (ShownColumn& column : columns) {
      if (!column.is_head && &column != &columns.front()) column.label = column.header;
      const std::size_t text = column.label.size() + longest(table_, column.at);
      if ((column.is_code && column.is_head) || text > kHalfALine) {
        column.size = "long";
      } else if (layout_.is_dense && text > kThirdOfALine) {
        column.size = "two";
      }
      needed += needed_rem(table_, column) + kGapRem;
    }
    const auto fit = std::ranges::lower_bound(kFits, needed);
    if (fit != kFits.end()) layout_.fit = *fit;
  }

  ShownRow shown_row(const std::vector<Cell>& row) const {
    ShownRow shown;
    for (const ShownColumn& column : layout_.columns) {
      shown.cells.push_back(shown_cell(row[column.at], column));
    }
    for (const std::size_t i : remarks_) {
      if (row[i].text.empty()) continue;
      const Column& column = table_.columns()[i];
      const std::string label = column.is_remark ? "" : column.header + ": ";
      shown.remarks.push_back(folded(label + row[i].text, kLongestRemark));
    }
    return shown;
  }

  // What is said of every row is said once, above them.
  void share_remarks(std::vector<ShownRow>* rows) {
    const auto is_as_first = [&](const ShownRow& row) {
      return row.remarks == rows->front().remarks;
    };
    if (rows->size() < 2 || !std::ranges::all_of(*rows, is_as_first)) return;
    layout_.shared = rows->front().remarks;
    for (ShownRow& row : *rows) row.remarks.clear();
  }

  const Table& table_;
  std::vector<std::size_t> remarks_;
  TableLayout layout_;
};

}  // namespace

TableLayout laid_out(const Table& table, std::size_t open_rows) {
  return Layouter(table, open_rows).take();
}

}  // namespace fusegate::ci
