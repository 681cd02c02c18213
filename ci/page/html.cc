#include "ci/page/html.h"

#include <fmt/format.h>

#include "baselines/io/printable.h"

namespace fusegate::ci {
namespace {

std::string escape(std::string_view raw, bool with_breaks) {
  std::string html;
  for (const char c : baselines::printable(raw)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
    if (with_breaks && (c == '/' || c == '_')) html += "<wbr>";
  }
  return html;
}

}  // namespace

std::string escaped(std::string_view text) { return escape(text, false); }

std::string escaped_name(std::string_view text) { return escape(text, true); }

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace fusegate::ci
