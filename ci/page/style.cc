#include "ci/page/style.h"

#include <fmt/format.h>

#include "ci/page/assets.h"
#include "ci/page/table_layout.h"

namespace fusegate::ci {
namespace {

// Rows as blocks, of the tables of one class.
std::string blocks(std::string_view table) {
  std::string css(assets::kBlocksCss);
  for (std::size_t at = 0; (at = css.find("TABLE", at)) != css.npos; at += table.size()) {
    css.replace(at, 5, table);
  }
  return css;
}

std::string shades(const std::array<Shade, kLightShades.size()>& all) {
  std::string css;
  for (std::size_t i = 0; i < all.size(); ++i) {
    css += fmt::format(".map .step{0}, .step{0} {{ background: {1}; color: {2}; }}\n", i,
                       all[i].first, all[i].second);
  }
  return css;
}

}  // namespace

std::string style_sheet() {
  std::string css(assets::kStyleCss);
  css += shades(kLightShades) +
         fmt::format("@media (prefers-color-scheme: dark) {{\n{}}}\n", shades(kDarkShades));
  for (const int fit : kFits) {
    // The page's own margins are 3 rem.
    css += fmt::format("@media screen and (max-width: {}rem) {{\n{}}}\n", fit + 3,
                       blocks(fmt::format(".fit{}", fit)));
  }
  return css + blocks(".fit");
}

std::string_view page_script() { return assets::kPageJs; }

}  // namespace fusegate::ci
