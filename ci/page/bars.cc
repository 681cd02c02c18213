// Bars of shares, and what was there from which night to which.
#include <fmt/format.h>

#include <algorithm>

#include "ci/page/html.h"
#include "ci/page/pictures.h"
#include "ci/page/style.h"

namespace fusegate::ci {
namespace {

// Of all bars, in their order; gaps have no colour.
std::vector<std::string> stages_of(const BarsPicture& picture) {
  std::vector<std::string> stages;
  for (const Bar& bar : picture.bars) {
    for (const BarPart& part : bar.parts) {
      if (part.is_gap || std::ranges::find(stages, part.stage) != stages.end()) continue;
      stages.push_back(part.stage);
    }
  }
  return stages;
}

std::string fill_of(const BarPart& part, const std::vector<std::string>& stages) {
  if (part.is_gap) return "class=\"gaps\"";
  const auto at = static_cast<std::size_t>(std::ranges::find(stages, part.stage) - stages.begin());
  return fmt::format("fill=\"{}\"", kSeriesColours[at % kSeriesColours.size()]);
}

// Medians need not add up to the whole: what is too long ends with the bar.
std::string bar_html(const Bar& bar, const std::vector<std::string>& stages) {
  std::string label, parts;
  double at = 0;
  for (const BarPart& part : bar.parts) {
    const std::string text = fmt::format("{} {}", part.stage, part.text);
    label += (label.empty() ? "" : ", ") + text;
    const double width = std::min(part.share, 1 - at);
    if (width > 0) {
      parts += fmt::format(
          "<rect x=\"{:.4f}\" width=\"{:.4f}\" height=\"1\" {}><title>{}</title></rect>", at, width,
          fill_of(part, stages), escaped(text));
    }
    at += width;
  }
  const std::string name =
      bar.name.empty() ? ""
                       : fmt::format("<span class=\"name\">{}</span> ", escaped_name(bar.name));
  return fmt::format(
      "<p class=\"profile\">{}<svg class=\"bar\" viewBox=\"0 0 1 1\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{}</svg></p>\n",
      name, escaped(label), parts);
}

}  // namespace

std::string bars_html(const BarsPicture& picture) {
  const std::vector<std::string> stages = stages_of(picture);
  std::string html = "<div><ul class=\"legend\">";
  const auto add_entry = [&](const BarPart& part, const std::string& name) {
    html += fmt::format(
        "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" "
        "{}/></svg> {}</li>\n",
        fill_of(part, stages), escaped(name));
  };
  for (const std::string& stage : stages) add_entry({stage}, stage);
  add_entry({"gaps", 0, "", true}, "gaps");
  html += "</ul>\n";
  for (const Bar& bar : picture.bars) html += bar_html(bar, stages);
  return html + "</div>\n";
}

std::string timeline_html(const TimelinePicture& picture) {
  std::string html;
  for (const TimelinePicture::Row& row : picture.rows) {
    std::string paths[2];  // in turn
    for (std::size_t i = 0; i < row.spans.size(); ++i) {
      const auto& [first, last] = row.spans[i];
      paths[i % 2] += fmt::format("M{} 0h{}", first, last - first + 1);
    }
    const std::string odd =
        paths[1].empty() ? "" : fmt::format("<path class=\"odd\" d=\"{}\"/>", paths[1]);
    html += fmt::format(
        "<p><span class=\"name\">{}</span> <span class=\"soft\">{}</span><svg viewBox=\"0 -1 {} "
        "2\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"{}\"/>{}</svg></p>\n",
        escaped(row.name), escaped(row.text), picture.nights, paths[0], odd);
  }
  return figure_html(picture.caption, picture.caption,
                     fmt::format("<div class=\"timeline\">{}</div>\n", html));
}

}  // namespace fusegate::ci
