#include "ci/report/document.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusegate::ci {
namespace {

using nlohmann::json;

std::string_view tone_name(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      break;
    case Tone::kGood:
      return "good";
    case Tone::kBad:
      return "bad";
    case Tone::kUnsure:
      return "unsure";
    case Tone::kStrong:
      return "strong";
  }
  return "";
}

json cell_json(const Cell& cell) { return {{"text", cell.text}, {"tone", tone_name(cell.tone)}}; }

json cells_json(const std::vector<Cell>& cells) {
  json list = json::array();
  for (const Cell& cell : cells) list.push_back(cell_json(cell));
  return list;
}

json table_json(const Table& table) {
  json columns = json::array();
  for (const Column& column : table.columns()) {
    columns.push_back({{"header", column.header},
                       {"is_number", column.align == Align::kRight},
                       {"is_code", column.is_code},
                       {"is_remark", column.is_remark}});
  }
  json rows = json::array();
  for (const auto& row : table.rows()) rows.push_back(cells_json(row));
  return {{"columns", columns}, {"rows", rows}};
}

json sections_json(const std::vector<Section>& sections) {
  json list = json::array();
  for (const Section& section : sections) {
    if (section.empty()) continue;
    list.push_back({{"title", section.title},
                    {"sentences", section.sentences},
                    {"notes", cells_json(section.notes)},
                    {"table", table_json(section.table)},
                    {"pictures", section.pictures},
                    {"parts", sections_json(section.parts)},
                    {"is_folded", section.fold == Fold::kAlways}});
  }
  return list;
}

std::string table_lines(const Section& section) {
  if (section.table.empty()) return "";
  if (!section.is_lines) return section.table.text(section.terminal_rows);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& row : section.table.rows()) {
    lines.emplace_back(row.front().text, row.back().text);
  }
  return shared_lines(lines, section.terminal_rows);
}

void add_sections(const std::vector<Section>& sections, std::string* text) {
  for (const Section& section : sections) {
    if (section.is_page_only || section.terminal_rows == 0) continue;
    std::string own;
    for (const std::string& sentence : section.sentences) own += sentence + '\n';
    for (const Cell& note : section.notes) own += fmt::format("- {}\n", note.text);
    own += table_lines(section);
    if (!own.empty()) {
      const std::string title = section.title.empty() ? "" : section.title + '\n';
      *text += (text->empty() ? "" : "\n") + title + own;
    }
    add_sections(section.parts, text);
  }
}

}  // namespace

bool Section::empty() const {
  return sentences.empty() && notes.empty() && table.empty() && pictures.empty() &&
         std::ranges::all_of(parts, &Section::empty);
}

std::string terminal_text(const std::vector<Section>& sections) {
  std::string text;
  add_sections(sections, &text);
  return text;
}

std::string terminal_text(const Document& document) {
  std::string text = document.headline + '\n';
  if (!document.facts.empty()) text += '\n';
  for (const Fact& fact : document.facts) {
    text += fmt::format("{:<10} {}\n", fact.label, fact.text.text);
  }
  add_sections(document.sections, &text);
  if (!document.summary.empty()) text += fmt::format("\n{}\n", document.summary);
  return text;
}

json document_json(const Document& document) {
  json facts = json::array();
  for (const Fact& fact : document.facts) {
    facts.push_back({{"label", fact.label}, {"text", cell_json(fact.text)}});
  }
  return {{"title", document.title},       {"outcome", document.outcome},
          {"headline", document.headline}, {"facts", facts},
          {"summary", document.summary},   {"sections", sections_json(document.sections)}};
}

}  // namespace fusegate::ci
