#include "ci/console/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "baselines/io/printable.h"

namespace fusegate::ci {
namespace {

// Between two columns; and before what a row has in its further lines.
constexpr std::string_view kGap = "  ";
constexpr std::string_view kIndent = "    ";

// Code points, not bytes: names from other programs may hold more than ASCII.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct SharedLine {
  std::string subject;
  std::string text;
  std::size_t count = 1;
  bool is_one_subject = true;
};

std::vector<SharedLine> share(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::vector<SharedLine> shared;
  std::map<std::string_view, std::size_t> by_text;
  for (const auto& [subject, text] : lines) {
    const auto [found, is_new] = by_text.emplace(text, shared.size());
    if (is_new) {
      shared.push_back({subject, text});
      continue;
    }
    SharedLine& same = shared[found->second];
    ++same.count;
    same.is_one_subject = same.is_one_subject && same.subject == subject;
  }
  return shared;
}

std::string more_rows(std::size_t count, std::string_view of) {
  return of.empty() ? fmt::format("and {} more row{}\n", count, count == 1 ? "" : "s")
                    : fmt::format("and {} more {}\n", count, of);
}

}  // namespace

std::string shared_lines(const std::vector<std::pair<std::string, std::string>>& lines,
                         std::size_t limit) {
  const std::vector<SharedLine> shared = share(lines);
  const std::size_t shown = std::min(limit, shared.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const SharedLine& line = shared[i];
    const bool is_alone = line.count == 1;
    text += fmt::format(
        "{}{}: {}{}\n", baselines::printable(line.subject),
        is_alone || line.is_one_subject ? "" : fmt::format(", and {} more", line.count - 1),
        baselines::printable(line.text),
        !is_alone && line.is_one_subject ? fmt::format(" ({} times)", line.count) : "");
  }
  if (shown == shared.size()) return text;
  return text + fmt::format("and {} more\n", shared.size() - shown);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table row of another width");
  for (Cell& cell : cells) {
    cell.text = baselines::printable(cell.text);
    cell.aside_of = baselines::printable(cell.aside_of);
  }
  rows_.push_back(std::move(cells));
}

// Marks the columns that start a line, so that no line is longer than the limit. Returns the number
// of lines after the first.
std::size_t Table::break_lines(std::span<ColumnLayout> layouts, std::size_t limit,
                               std::size_t indent) {
  std::size_t lines = 0;
  std::size_t used = 0;
  for (ColumnLayout& layout : layouts) {
    if (!layout.is_shown) continue;
    const std::size_t gap = used == 0 ? 0 : kGap.size();
    layout.starts_line = used > 0 && limit - used < gap + layout.width;
    if (layout.starts_line) ++lines;
    used = std::min((layout.starts_line ? indent : used + gap) + layout.width, limit);
  }
  return lines;
}

std::vector<Table::ColumnLayout> Table::laid_out(const std::vector<const Row*>& shown,
                                                 std::size_t columns) const {
  std::vector<ColumnLayout> layouts;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    ColumnLayout& layout = layouts.emplace_back(ColumnLayout{.is_shown = !columns_[i].is_remark});
    if (!layout.is_shown) continue;
    layout.width = display_width(columns_[i].header);
    for (const Row* row : shown)
      layout.width = std::max(layout.width, display_width((*row)[i].text));
  }
  if (break_lines(layouts, columns, kIndent.size()) < 2) return layouts;
  // Spreads the columns evenly over the further lines.
  const auto rest = std::ranges::find(layouts, true, &ColumnLayout::starts_line);
  const std::span further(rest, layouts.end());
  std::size_t limit = columns - std::min(columns, kIndent.size());
  const std::size_t lines = break_lines(further, limit, 0);
  while (limit > 0 && break_lines(further, limit - 1, 0) == lines) --limit;
  break_lines(further, limit, 0);
  rest->starts_line = true;
  return layouts;
}

std::string Table::lines(const std::vector<ColumnLayout>& layouts, const Row& cells,
                         const TextStyle& style) const {
  std::string text;
  bool is_first = true;
  const auto end_line = [&text] { text.erase(text.find_last_not_of(' ') + 1) += '\n'; };
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!layouts[i].is_shown) continue;
    const std::string padding(layouts[i].width - display_width(cells[i].text), ' ');
    const std::string cell = coloured(cells[i].text, cells[i].tone, style);
    if (layouts[i].starts_line) end_line();
    text += layouts[i].starts_line ? kIndent : is_first ? "" : kGap;
    is_first = false;
    text += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
  }
  end_line();
  return text;
}

std::string Table::remarks(const std::vector<const Row*>& shown) const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].is_remark) continue;
    for (const Row* row : shown) {
      const Cell& remark = (*row)[i];
      if (remark.text.empty() || remark.is_aside) continue;
      lines.emplace_back(row->front().text, remark.text);
    }
  }
  return lines.empty() ? "" : '\n' + shared_lines(lines);
}

std::string Table::text(std::size_t limit, const TextStyle& style) const {
  std::vector<const Row*> shown;
  std::map<std::string_view, std::size_t> left_out;
  for (const Row& row : rows_) {
    const std::string& aside_of = row.front().aside_of;
    if (aside_of.empty() && shown.size() < limit) {
      shown.push_back(&row);
    } else {
      ++left_out[aside_of];
    }
  }
  Row headers;
  for (const Column& column : columns_) headers.emplace_back(column.header);
  const std::vector<ColumnLayout> layouts = laid_out(shown, style.columns);
  std::string text = lines(layouts, headers, style);
  for (const Row* row : shown) text += lines(layouts, *row, style);
  for (const auto& [of, count] : left_out) text += more_rows(count, of);
  return text + remarks(shown);
}

}  // namespace fusegate::ci
