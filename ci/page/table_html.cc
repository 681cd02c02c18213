#include "ci/page/table_html.h"

#include <fmt/format.h>

#include "ci/console/format.h"
#include "ci/page/html.h"
#include "ci/page/table_layout.h"

namespace fusegate::ci {
namespace {

std::string foldable(const FoldedText& text, bool is_name) {
  std::string shown = is_name ? escaped_name(text.text) : escaped(text.text);
  if (!text.href.empty()) shown = fmt::format("<a href=\"{}\">{}</a>", escaped(text.href), shown);
  if (text.rest.empty()) return shown;
  return fmt::format("<details class=\"rest\"><summary>{}</summary>{}</details>", shown,
                     is_name ? escaped_name(text.rest) : escaped(text.rest));
}

// Roles, since a row that becomes a block is no row to a screen reader without.
std::string cell_html(const FoldedText& cell, const ShownColumn& column) {
  std::string classes = column.is_number ? "number" : column.is_code ? "name" : "text";
  for (const std::string& more : {column.size, std::string(tone_class(cell.tone))}) {
    if (!more.empty()) classes += ' ' + more;
  }
  const std::string label =
      column.label.empty() ? "" : fmt::format(" data-label=\"{}\"", escaped(column.label));
  const char* tag = column.is_head ? "th" : "td";
  const char* role = column.is_head ? " scope=\"row\" role=\"rowheader\"" : " role=\"cell\"";
  return fmt::format("<{}{} class=\"{}\"{}>{}</{}>", tag, role, classes, label,
                     foldable(cell, column.is_code), tag);
}

std::string row_html(const ShownRow& row, const TableLayout& layout) {
  std::string html =
      row.remarks.empty() ? "<tr role=\"row\">" : "<tr role=\"row\" class=\"noted\">";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    html += cell_html(row.cells[i], layout.columns[i]);
  }
  html += "</tr>\n";
  for (std::size_t i = 0; i < row.remarks.size(); ++i) {
    html += fmt::format(
        "<tr role=\"row\" class=\"{}remark\"><td role=\"cell\" colspan=\"{}\">{}</td></tr>\n",
        i + 1 < row.remarks.size() ? "noted " : "", layout.columns.size(),
        foldable(row.remarks[i], false));
  }
  return html;
}

std::string rows_html(const TableLayout& layout, const std::vector<ShownRow>& rows,
                      const std::string& caption) {
  std::string html = fmt::format(
      "<table role=\"table\" class=\"fit{}{}\">\n<caption>{}</caption>\n<thead "
      "role=\"rowgroup\"><tr "
      "role=\"row\">",
      layout.fit ? std::to_string(*layout.fit) : "", layout.is_dense ? " dense" : "",
      escaped(caption));
  for (const ShownColumn& column : layout.columns) {
    html += fmt::format("<th scope=\"col\" role=\"columnheader\"{}>{}</th>",
                        column.is_number ? " class=\"number\"" : "", escaped_name(column.header));
  }
  html += "</tr></thead>\n<tbody role=\"rowgroup\">\n";
  for (const ShownRow& row : rows) html += row_html(row, layout);
  return html + "</tbody>\n</table>\n";
}

}  // namespace

const char* tone_class(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "good";
    case Tone::kBad:
      return "bad";
    case Tone::kUnsure:
      return "unsure";
    case Tone::kStrong:
      return "strong";
    case Tone::kPlain:
      break;
  }
  return "";
}

std::string table_html(const Section& section) {
  if (section.table.empty()) return "";
  const TableLayout layout = laid_out(section.table, section.page_rows);
  std::string html;
  for (const FoldedText& remark : layout.shared) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", foldable(remark, false));
  }
  html += rows_html(layout, layout.open, section.title);
  if (layout.folded.empty()) return html;
  return html + fmt::format("<details><summary>{}</summary>\n{}</details>\n",
                            format_count(layout.folded.size(), "more row"),
                            rows_html(layout, layout.folded, section.title));
}

}  // namespace fusegate::ci
