#include "ci/calibrating/document.h"

#include <string_view>

namespace fusegate::ci {
namespace {

// No more than keeps a table whole and shows every character: these pages are kept in docs/, where
// people read their source as well. What they quote was measured by whoever writes them, unlike the
// text of a pull request's run, which markdown_escape.h is for.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += ' ';
    } else if (c == '<') {
      result += "&lt;";
    } else {
      if (std::string_view("|*`[\\").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += ' ' + escaped(cell) + " |";
  return row + '\n';
}

std::string markdown_table(const Section& section) {
  std::vector<std::string> headers;
  std::string rule = "|";
  for (const Column& column : section.columns) {
    headers.push_back(column.header);
    rule += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  std::string table = markdown_row(headers) + rule + '\n';
  for (const auto& row : section.rows) table += markdown_row(row);
  return table;
}

}  // namespace

std::string plain_text(const std::vector<Section>& document) {
  std::string text;
  for (const Section& section : document) {
    if (!text.empty()) text += '\n';
    if (!section.title.empty()) text += section.title + '\n';
    for (const std::string& sentence : section.sentences) text += sentence + '\n';
    if (section.rows.empty()) continue;
    Table table(section.columns);
    for (const auto& row : section.rows) table.add_row(row);
    text += table.text();
  }
  return text;
}

std::string markdown_document(const std::vector<Section>& document) {
  std::string text;
  for (const Section& section : document) {
    if (!text.empty()) text += '\n';
    if (!section.title.empty()) text += "## " + escaped(section.title) + "\n\n";
    for (const std::string& sentence : section.sentences) text += escaped(sentence) + '\n';
    if (section.rows.empty()) continue;
    if (!section.sentences.empty()) text += '\n';
    text += markdown_table(section);
  }
  return text;
}

}  // namespace fusegate::ci
