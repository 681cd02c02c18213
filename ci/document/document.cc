#include "ci/document/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "baselines/io/printable.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::printable;

// Of the headline, by what came out (report.cc).
Tone tone_of(std::string_view outcome) {
  if (outcome == "pass") return Tone::kGood;
  if (outcome == "regression") return Tone::kBad;
  return outcome == "undecided" || outcome == "could not judge" ? Tone::kUnsure : Tone::kPlain;
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
    for (const std::string& command : section.commands) own += "  " + line(command, style);
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
  return sentences.empty() && notes.empty() && table.empty() && commands.empty() &&
         pictures.empty() && std::ranges::all_of(parts, &Section::empty);
}

std::string facts_summary(const std::vector<Fact>& facts) {
  std::vector<std::string> labels;
  std::size_t notes = 0;
  for (const Fact& fact : facts) {
    if (fact.label == "note") {
      ++notes;
    } else if (std::ranges::find(labels, fact.label) == labels.end()) {
      labels.push_back(fact.label);
    }
  }
  if (notes > 0) labels.push_back(format_count(notes, "note"));
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == labels.size() ? " and " : ", ") + labels[i];
  }
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::pair<std::vector<Fact>, std::vector<Fact>> toned_and_plain(const std::vector<Fact>& facts) {
  std::pair<std::vector<Fact>, std::vector<Fact>> parts;
  for (const Fact& fact : facts) {
    (fact.text.tone == Tone::kPlain ? parts.second : parts.first).push_back(fact);
  }
  return parts;
}

std::vector<Section> in_page_order(std::vector<Section> sections) {
  std::erase_if(sections, [](const Section& section) { return section.empty(); });
  std::ranges::stable_sort(sections, {}, &Section::page_order);
  return sections;
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

}  // namespace fusegate::ci
