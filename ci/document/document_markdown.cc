#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/document/document.h"

namespace fusegate::ci {
namespace {

// Kept free while rows are written: for what closes a table and says that rows are left out.
constexpr std::size_t kReserve = 600;
// A reason or a name of any length must not crowd out the verdict.
constexpr std::size_t kLongestText = 300;

std::string shortened(std::string_view text, std::size_t limit) {
  if (limit == kNoLimit || text.size() <= kLongestText) return std::string(text);
  std::size_t end = kLongestText;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not in the middle of a character
  return std::string(text.substr(0, end)) + "...";
}

bool has_own_text(const Section& section) {
  return !section.sentences.empty() || !section.notes.empty() || !section.table.empty() ||
         !section.commands.empty();
}

// That is not behind a fold.
bool has_open_text(const Section& section) {
  return section.fold == Fold::kNever && !section.is_page_only &&
         (has_own_text(section) || std::ranges::any_of(section.parts, has_open_text));
}

// A page that grows up to a limit. What is added first is sure to be there.
class Page {
 public:
  explicit Page(std::size_t limit) : limit_(limit) {}

  std::string escaped(std::string_view text) const {
    return markdown_text(shortened(text, limit_));
  }

  // Whether there was room.
  bool add(std::string_view text) {
    if (limit_ != kNoLimit && text_.size() + text.size() + kReserve > limit_) return false;
    text_ += text;
    return true;
  }

  // Without those of its parts that are folded.
  void add_section(const Section& section, std::size_t heading) {
    if (section.is_page_only || section.empty()) return;
    if (section.fold != Fold::kNever) {
      folded_.push_back(&section);
      return;
    }
    std::string opening;
    if (!section.title.empty() && has_open_text(section)) {
      opening = fmt::format("{} {}\n", std::string(heading, '#'), escaped(section.title));
    }
    add_contents(section, opening);
    for (const Section& part : section.parts) add_section(part, heading + 1);
  }

  void add_folded() {
    for (const Section* section : std::exchange(folded_, {})) {
      const std::string opening =
          fmt::format("<details><summary>{}</summary>\n", escaped(section->title));
      if (has_own_text(*section) && add_contents(*section, opening)) text_ += "\n</details>\n";
      for (const Section& part : section->parts) add_section(part, 0);
    }
    if (!folded_.empty()) add_folded();
  }

  std::string text() && {
    if (left_out_ > 0) {
      text_ += fmt::format(
          "\n{} left out: a comment cannot be longer. The HTML report and the JSON file have "
          "all.\n",
          format_count(left_out_, "table row"));
    }
    return std::move(text_);
  }

 private:
  // Whether the opening is there, which it is not where nothing follows it.
  bool add_contents(const Section& section, const std::string& opening) {
    if (opening.empty() && !has_own_text(section)) return false;
    std::string lines = opening;
    const auto separate = [&] { lines += lines.empty() ? "" : "\n"; };
    if (!section.sentences.empty()) separate();
    for (const std::string& sentence : section.sentences) lines += escaped(sentence) + '\n';
    if (!section.notes.empty()) separate();
    for (const Cell& note : section.notes) lines += "- " + escaped(note.text) + '\n';
    if (!section.table.empty()) {
      separate();
      lines += table_header(section.table);
    }
    if (!add((text_.empty() ? "" : "\n") + lines)) {
      left_out_ += section.table.rows().size();
      return false;
    }
    add_rows(section.table);
    if (!section.commands.empty()) add("\n");
    for (const std::string& command : section.commands) add("- " + markdown_code(command) + '\n');
    return true;
  }

  std::string table_header(const Table& table) const {
    std::string names = "|";
    std::string rule = "|";
    for (const Column& column : table.columns()) {
      names += fmt::format(" {} |", escaped(column.header));
      rule += column.align == Align::kRight ? " ---: |" : " --- |";
    }
    return fmt::format("{}\n{}\n", names, rule);
  }

  void add_rows(const Table& table) {
    std::size_t written = 0;
    for (const auto& row : table.rows()) {
      std::string line = "|";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_code = table.columns()[i].is_code && !row[i].text.empty();
        line += fmt::format(" {} |", is_code ? markdown_code(shortened(row[i].text, limit_))
                                             : escaped(row[i].text));
      }
      if (!add(line + '\n')) break;
      ++written;
    }
    left_out_ += table.rows().size() - written;
  }

  std::size_t limit_;
  std::string text_;
  std::size_t left_out_ = 0;
  std::vector<const Section*> folded_;
};

std::string headline(const Document& document, const Page& page) {
  return fmt::format("{}**{}**\n", document.mark.empty() ? "" : document.mark + ' ',
                     page.escaped(document.headline));
}

std::string opening(const Document& document, const Page& page) {
  std::string text = fmt::format("## {}\n", page.escaped(document.title));
  if (!document.headline.empty()) text += '\n' + headline(document, page);
  if (!document.summary.empty()) text += fmt::format("\n{}.\n", page.escaped(document.summary));
  return text;
}

std::string fact_lines(const std::vector<Fact>& facts, const Page& page) {
  std::string text;
  for (const Fact& fact : facts) {
    text += fmt::format("- {}: {}\n", page.escaped(fact.label), page.escaped(fact.text.text));
  }
  return text;
}

// Nothing moved, and nothing is to be warned of.
bool is_quiet(const Document& document) {
  return document.outcome == "pass" && toned_and_plain(document.facts).first.empty() &&
         std::ranges::none_of(document.sections, has_open_text);
}

}  // namespace

std::string markdown(const Document& document, std::size_t limit) {
  Page page(limit);
  const auto [toned, plain] = toned_and_plain(document.facts);
  if (is_quiet(document)) {
    page.add(headline(document, page));
  } else if (!document.title.empty()) {
    page.add(opening(document, page));
  }
  if (!toned.empty()) page.add('\n' + fact_lines(toned, page));
  const std::size_t heading = document.title.empty() ? 2 : 3;
  for (const Section& section : document.sections) page.add_section(section, heading);
  const bool is_facts_alone = document.headline.empty() && document.sections.empty();
  if (is_facts_alone && !plain.empty()) {
    page.add('\n' + fact_lines(plain, page));
  } else if (!plain.empty()) {
    page.add(fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n",
                         page.escaped(facts_summary(plain)), fact_lines(plain, page)));
  }
  page.add_folded();
  return std::move(page).text();
}

}  // namespace fusegate::ci
