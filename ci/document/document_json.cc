#include <algorithm>
#include <array>

#include "ci/document/document.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

// In the order of Tone.
constexpr std::array<const char*, 5> kTones{"", "good", "bad", "unsure", "strong"};

json list_of(const auto& items, auto as_json) {
  json list = json::array();
  for (const auto& item : items) list.push_back(as_json(item));
  return list;
}

json cell_json(const Cell& cell) {
  return {{"text", cell.text}, {"tone", kTones.at(static_cast<std::size_t>(cell.tone))}};
}

json column_json(const Column& column) {
  return {{"header", column.header},
          {"is_number", column.align == Align::kRight},
          {"is_code", column.is_code},
          {"is_remark", column.is_remark}};
}

json row_json(const std::vector<Cell>& row) { return list_of(row, cell_json); }

json fact_json(const Fact& fact) { return {{"label", fact.label}, {"text", cell_json(fact.text)}}; }

std::vector<Section> in_page_order(std::vector<Section> sections) {
  std::erase_if(sections, [](const Section& section) { return section.empty(); });
  std::ranges::stable_sort(sections, {}, &Section::page_order);
  return sections;
}

json section_json(const Section& section) {
  return {{"title", section.title},
          {"sentences", section.sentences},
          {"notes", list_of(section.notes, cell_json)},
          {"table",
           {{"columns", list_of(section.table.columns(), column_json)},
            {"rows", list_of(section.table.rows(), row_json)}}},
          {"open_rows", std::min(section.page_rows, section.table.rows().size())},
          {"pictures", section.pictures},
          {"parts", list_of(in_page_order(section.parts), section_json)},
          {"is_folded", section.fold == Fold::kAlways}};
}

}  // namespace

json document_json(const Document& document) {
  return {{"title", document.title},
          {"outcome", document.outcome},
          {"headline", document.headline},
          {"facts", list_of(document.facts, fact_json)},
          {"summary", document.summary},
          {"sections", list_of(in_page_order(document.sections), section_json)}};
}

}  // namespace fusegate::ci
