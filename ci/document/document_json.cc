#include <algorithm>

#include "ci/document/document.h"

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

std::vector<Section> in_page_order(std::vector<Section> sections) {
  std::ranges::stable_sort(sections, {}, &Section::page_order);
  return sections;
}

json sections_json(const std::vector<Section>& sections) {
  json list = json::array();
  for (const Section& section : in_page_order(sections)) {
    if (section.empty()) continue;
    list.push_back({{"title", section.title},
                    {"sentences", section.sentences},
                    {"notes", cells_json(section.notes)},
                    {"table", table_json(section.table)},
                    {"open_rows", std::min(section.page_rows, section.table.rows().size())},
                    {"pictures", section.pictures},
                    {"parts", sections_json(section.parts)},
                    {"is_folded", section.fold == Fold::kAlways}});
  }
  return list;
}

}  // namespace

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
