// Pictures as HTML: SVG drawn here, in the page's own colours, and tables of coloured cells.
#pragma once

#include <string>

#include "ci/document/picture.h"

namespace fusegate::ci {

std::string picture_html(const Picture& picture);

std::string lines_html(const LinePicture& picture);
std::string map_html(const MapPicture& picture);
std::string roofline_html(const RooflinePicture& picture);
std::string bars_html(const BarsPicture& picture);
std::string history_html(const HistoryPicture& picture);
std::string strip_html(const StripPicture& picture);
std::string timeline_html(const TimelinePicture& picture);

// A file of its own, dark on white: it fits any page around it.
std::string lines_svg_file(const LinePicture& picture);

// A figure with its caption. description: for those who cannot see it.
std::string figure_html(std::string_view description, std::string_view caption,
                        std::string_view contents);

// An entry of a legend: a line, a marker (of kMarkers; none below 0), or both.
struct LegendEntry {
  std::string name;
  std::string colour{};
  int marker = 0;
  bool has_line = false;
  bool is_dashed = false;
  bool is_hollow = false;
};
std::string legend_html(const std::vector<LegendEntry>& entries);

}  // namespace fusegate::ci
