#include "ci/console/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace fusegate::ci {
namespace {

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
  std::map<std::string_view, std::size_t> places;
  for (const auto& [subject, text] : lines) {
    const auto [place, is_new] = places.emplace(text, shared.size());
    if (is_new) {
      shared.push_back({subject, text});
      continue;
    }
    SharedLine& same = shared[place->second];
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
        "{}{}: {}{}\n", line.subject,
        is_alone || line.is_one_subject ? "" : fmt::format(", and {} more", line.count - 1),
        line.text, !is_alone && line.is_one_subject ? fmt::format(" ({} times)", line.count) : "");
  }
  if (shown == shared.size()) return text;
  return text + fmt::format("and {} more\n", shared.size() - shown);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("a table row of another width");
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::size_t>& widths, const Row& cells) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is_remark) continue;
    const std::string& cell = cells[i].text;
    const std::string padding(widths[i] - display_width(cell), ' ');
    line += i == 0 ? "" : "  ";
    line += columns_[i].align == Align::kLeft ? cell + padding : padding + cell;
  }
  return line.erase(line.find_last_not_of(' ') + 1) + '\n';
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

std::string Table::text(std::size_t limit) const {
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
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headers.emplace_back(columns_[i].header);
    widths.push_back(display_width(columns_[i].header));
    for (const Row* row : shown) widths[i] = std::max(widths[i], display_width((*row)[i].text));
  }
  std::string text = line(widths, headers);
  for (const Row* row : shown) text += line(widths, *row);
  for (const auto& [of, count] : left_out) text += more_rows(count, of);
  return text + remarks(shown);
}

}  // namespace fusegate::ci
