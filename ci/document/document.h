// A text for people, built once and written three ways: for a terminal, as GitHub Markdown, and as
// a page (ci/page). Everything is formatted already and in order; a writer lays out and escapes.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ci/console/table.h"
#include "ci/document/picture.h"

namespace fusegate::ci {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// Whether all of it is seen, or its title alone until a reader asks for more. A terminal folds
// nothing.
enum class Fold { kNever, kInMarkdown, kAlways };

// A section's position on the page: first what most people come for.
enum class PageOrder { kFirst, kSecond, kAsListed };

struct Section {
  std::string title{};                     // may be empty
  std::vector<std::string> sentences{};    // before the table, each a line
  std::vector<Cell> notes{};               // a list
  Table table{};                           // left out where it has no rows
  std::vector<std::string> commands{};     // after the table, each a line
  std::vector<Picture> pictures{};         // of the page alone
  std::vector<Section> parts{};
  Fold fold = Fold::kNever;
  bool is_page_only = false;             // with its parts: neither Markdown nor a terminal has it
  std::size_t terminal_rows = kNoLimit;  // as many are shown there; 0: nor the rest of it
  std::size_t page_rows = 20;            // as many are seen there, the others when asked for
  PageOrder page_order = PageOrder::kAsListed;
  // On a terminal each row is a line, "first cell: last cell", and rows that say the same share it.
  bool is_lines = false;

  // Has no more than a title.
  bool empty() const;
};

// "candidate  head: 5 processes on NVIDIA H200"
struct Fact {
  std::string label;
  Cell text;
};

struct Document {
  std::string title{};
  std::string outcome{};   // the page's colour shows it: "pass", "regression", ...
  std::string mark{};      // a sign of it, for Markdown
  std::string headline{};  // one sentence
  std::vector<Fact> facts{};
  std::string summary{};  // above the sections; on a terminal the last line, which is seen first
  std::vector<Section> sections{};
};

// Every text of it becomes one printable line, as the cells of its tables are already.
std::string terminal_text(const Document& document, const TextStyle& style = {});
std::string terminal_text(const std::vector<Section>& sections, const TextStyle& style = {});

// One line where nothing moved. What is folded comes last, and before it facts without a tone,
// unless there is nothing but facts.
// Where a limit is given the text is never longer: tables are cut, those that come first last, and
// it says how many rows are left out.
std::string markdown(const Document& document, std::size_t limit = kNoLimit);

// What facts there are, in a line: "Baseline, candidate and 2 notes".
std::string facts_summary(const std::vector<Fact>& facts);
// Those that have a tone, and the others.
std::pair<std::vector<Fact>, std::vector<Fact>> toned_and_plain(const std::vector<Fact>& facts);

// As the page has them: without those that are empty, and first what most people come for.
std::vector<Section> in_page_order(std::vector<Section> sections);

}  // namespace fusegate::ci
