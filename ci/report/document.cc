#include "ci/report/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/io/printable.h"

namespace fusegate::ci {
namespace {

using baselines::printable;
using nlohmann::json;

// Of the headline, by what came out (report.cc).
Tone tone_of(std::string_view outcome) {
  if (outcome == "pass") return Tone::kGood;
  if (outcome == "regression") return Tone::kBad;
  return outcome == "undecided" || outcome == "could not judge" ? Tone::kUnsure : Tone::kPlain;
}

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

// A line of a terminal's.
std::string line(const Cell& cell, const TextStyle& style) {
  return coloured(printable(cell.text), cell.tone, style) + '\n';
}

std::string table_lines(const Section& section, const TextStyle& style) {
  if (section.table.empty()) return "";
  if (!section.is_lines) return section.table.text(section.terminal_rows, style);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& row : section.table.rows()) {
    lines.emplace_back(row.front().text, row.back().text);
  }
  return shared_lines(lines, section.terminal_rows);
}

void add_sections(const std::vector<Section>& sections, const TextStyle& style, std::string* text) {
  for (const Section& section : sections) {
    if (section.is_page_only || section.terminal_rows == 0) continue;
    std::string own;
    for (const std::string& sentence : section.sentences) own += line(sentence, style);
    for (const Cell& note : section.notes) own += "- " + line(note, style);
    own += table_lines(section, style);
    if (!own.empty()) {
      const std::string title =
          section.title.empty() ? "" : line({section.title, Tone::kStrong}, style);
      *text += (text->empty() ? "" : "\n") + title + own;
    }
    add_sections(section.parts, style, text);
  }
}

}  // namespace

bool Section::empty() const {
  return sentences.empty() && notes.empty() && table.empty() && pictures.empty() &&
         std::ranges::all_of(parts, &Section::empty);
}

std::string terminal_text(const std::vector<Section>& sections, const TextStyle& style) {
  std::string text;
  add_sections(sections, style, &text);
  return text;
}

std::string terminal_text(const Document& document, const TextStyle& style) {
  std::string text = line({document.headline, tone_of(document.outcome)}, style);
  if (!document.facts.empty()) text += '\n';
  for (const Fact& fact : document.facts) {
    text += fmt::format("{:<10} {}", printable(fact.label), line(fact.text, style));
  }
  add_sections(document.sections, style, &text);
  if (!document.summary.empty()) text += '\n' + line(document.summary, style);
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
