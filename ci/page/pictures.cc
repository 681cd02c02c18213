#include "ci/page/pictures.h"

#include <fmt/format.h>

#include "ci/page/html.h"
#include "ci/page/style.h"

namespace fusegate::ci {
namespace {

struct AsHtml {
  std::string operator()(const LinePicture& picture) const { return lines_html(picture); }
  std::string operator()(const MapPicture& picture) const { return map_html(picture); }
  std::string operator()(const RooflinePicture& picture) const { return roofline_html(picture); }
  std::string operator()(const BarsPicture& picture) const { return bars_html(picture); }
  std::string operator()(const HistoryPicture& picture) const { return history_html(picture); }
  std::string operator()(const StripPicture& picture) const { return strip_html(picture); }
  std::string operator()(const TimelinePicture& picture) const { return timeline_html(picture); }
};

}  // namespace

std::string picture_html(const Picture& picture) { return std::visit(AsHtml{}, picture); }

std::string figure_html(std::string_view description, std::string_view caption,
                        std::string_view contents) {
  const std::string label =
      description == caption ? "" : fmt::format(" aria-label=\"{}\"", escaped(description));
  return fmt::format("<figure role=\"group\"{}>\n<figcaption>{}</figcaption>\n{}</figure>\n", label,
                     escaped(caption), contents);
}

std::string legend_html(const std::vector<LegendEntry>& entries) {
  std::string html = "<ul class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    html += "<li><svg class=\"line\" viewBox=\"0 0 30 10\" aria-hidden=\"true\">";
    if (entry.has_line) {
      html += fmt::format("<path d=\"M0 5h30\" stroke=\"{}\" stroke-width=\"1.6\"{}/>",
                          entry.colour, entry.is_dashed ? " stroke-dasharray=\"5 3\"" : "");
    }
    if (entry.marker >= 0) {
      html += fmt::format("<path d=\"M15 5{}\" {}=\"{}\"/>",
                          kMarkers[static_cast<std::size_t>(entry.marker) % kMarkers.size()],
                          entry.is_hollow ? "fill=\"none\" stroke" : "fill", entry.colour);
    }
    html += fmt::format("</svg> {}</li>\n", escaped(entry.name));
  }
  return html + "</ul>\n";
}

}  // namespace fusegate::ci
