// Speed-ups as tables of coloured cells: text of the page's own size, whatever its width, and one
// scale of colours for all maps of all pages.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "ci/page/html.h"
#include "ci/page/pictures.h"
#include "ci/page/style.h"

namespace fusegate::ci {
namespace {

using Sizes = std::vector<std::int64_t>;

// As many shapes stand side by side: they fit a narrow page.
constexpr std::size_t kMostShapes = 6;
constexpr std::size_t kEven = kSpeedUpSteps.size();

// Which colour: kEven where it is as good as 1.
std::size_t step_of(double speed_up) {
  const double by = std::max(speed_up, 1 / speed_up);
  const auto steps = static_cast<std::size_t>(
      std::ranges::count_if(kSpeedUpSteps, [&](double bound) { return by >= bound; }));
  return speed_up > 1 ? kEven + steps : kEven - steps;
}

std::string scale_html() {
  std::vector<double> bounds;
  for (auto bound = kSpeedUpSteps.rbegin(); bound != kSpeedUpSteps.rend(); ++bound) {
    bounds.push_back(1 / *bound);
  }
  bounds.insert(bounds.end(), kSpeedUpSteps.begin(), kSpeedUpSteps.end());
  std::string html = "<ul class=\"legend\">";
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    const std::string text = i == 0 ? fmt::format("below {:.2f}", bounds.front())
                             : i == bounds.size()
                                 ? fmt::format("above {:.2f}", bounds.back())
                                 : fmt::format("{:.2f} to {:.2f}", bounds[i - 1], bounds[i]);
    html += fmt::format("<li><span class=\"step step{}\" aria-hidden=\"true\"></span> {}</li>\n", i,
                        text);
  }
  return html + "</ul>\n";
}

std::string cell_html(const MapCell* cell) {
  if (cell == nullptr) return "<td></td>";
  return fmt::format("<td class=\"step{}\">{}</td>", step_of(cell->speed_up), escaped(cell->text));
}

class Map {
 public:
  Map(const MapPicture& picture, const std::string& title, const std::vector<MapCell>& cells)
      : picture_(picture), title_(title) {
    for (const MapCell& cell : cells) cells_[{cell.shape, cell.along}] = &cell;
  }

  std::string html() const {
    std::set<Sizes> distinct;
    for (const auto& [at, cell] : cells_) distinct.insert(at.first);
    const std::vector<Sizes> shapes(distinct.begin(), distinct.end());
    std::string html;
    for (std::size_t i = 0; i < shapes.size(); i += kMostShapes) {
      html += table(std::span(shapes).subspan(i, std::min(kMostShapes, shapes.size() - i)));
    }
    return html;
  }

 private:
  std::string table(std::span<const Sizes> shapes) const {
    std::string html = fmt::format(
        "<table class=\"map\"><caption>{}</caption>\n<thead><tr><th "
        "scope=\"col\">{}<span class=\"unseen\">, and {}</span></th>",
        escaped(title_), escaped(picture_.axis), escaped(picture_.shape_axes));
    for (const Sizes& shape : shapes) {
      html += fmt::format("<th scope=\"col\">{}</th>", fmt::join(shape, "<br>"));
    }
    html += "</tr></thead>\n<tbody>";
    std::set<std::int64_t> rows;
    for (const auto& [at, cell] : cells_) {
      if (std::ranges::find(shapes, at.first) != shapes.end()) rows.insert(at.second);
    }
    for (const std::int64_t along : rows) {
      html += fmt::format("\n<tr><th scope=\"row\">{}</th>", along);
      for (const Sizes& shape : shapes) {
        const auto found = cells_.find({shape, along});
        html += cell_html(found == cells_.end() ? nullptr : found->second);
      }
      html += "</tr>";
    }
    return html + "\n</tbody></table>\n";
  }

  const MapPicture& picture_;
  const std::string& title_;
  std::map<std::pair<Sizes, std::int64_t>, const MapCell*> cells_;
};

}  // namespace

std::string map_html(const MapPicture& picture) {
  std::string html = scale_html() + "<div class=\"panels\">\n";
  for (const auto& [title, cells] : picture.maps) html += Map(picture, title, cells).html();
  return figure_html(picture.description, picture.caption, html + "</div>\n");
}

}  // namespace fusegate::ci
