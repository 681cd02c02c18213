// Sections with a table each, once for a terminal and once as GitHub Markdown: what `calibrate`
// prints and what its --markdown writes are the same.
#pragma once

#include <string>
#include <vector>

#include "ci/console/table.h"

namespace fusegate::ci {

struct Section {
  std::string title;                   // may be empty
  std::vector<std::string> sentences;  // before the table
  std::vector<Column> columns;         // none: no table
  std::vector<std::vector<std::string>> rows;
};

std::string plain_text(const std::vector<Section>& document);
// Titles are headings of the second level.
std::string markdown_document(const std::vector<Section>& document);

}  // namespace fusegate::ci
