// A document as a page of HTML, whole without a script and without a network.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ci/document/document.h"

namespace fusegate::ci {

struct PageSettings {
  // Where style.css and page.js lie, as the page sees it ("", "../"). Nothing: they stand in the
  // page, which is then one file.
  std::optional<std::string> assets{};
  std::vector<std::string> scripts{};                        // more files, before page.js
  std::vector<std::pair<std::string, std::string>> links{};  // at the top: text and address
  bool has_open_facts = false;                               // else those without a tone are folded
};

std::string page_html(const Document& document, const PageSettings& settings = {});

}  // namespace fusegate::ci
