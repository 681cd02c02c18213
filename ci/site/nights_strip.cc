#include "ci/site/nights_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "baselines/io/printable.h"
#include "ci/page/html.h"
#include "ci/site/site_texts.h"

namespace fusegate::ci {
namespace {

using baselines::Night;

constexpr int kTextRow = 17, kTickRow = 12, kCardRow = 11;
// Rows of more cards would be taller than the history; the cards of fewest nights share one.
constexpr std::size_t kMostCards = 8;
// Of a page; narrower stretches have no name. On a narrow one names begin as far apart as the
// second.
constexpr double kNarrowestNamed = 0.06, kNarrowestOnTelephone = 0.2;
constexpr std::size_t kCommitInScript = 7, kShownOfCard = 8;

constexpr const char* kOpening =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
    "font-family=\"system-ui,sans-serif\" font-size=\"11\"><style>svg{{color-scheme:light "
    "dark;color:#57606a}}text{{fill:currentColor}}path{{fill:none;stroke:currentColor;"
    "vector-effect:non-scaling-stroke}}.odd{{stroke:#3b82c4}}@media(prefers-color-scheme:dark)"
    "{{svg{{color:#9aa4af}}}}@media(max-width:600px){{.wide{{display:none}}}}</style>\n";

// Nights in turn that have the same: the first of each with the one after its last.
struct Stretch {
  std::size_t first, end;
  std::string text;
};

std::vector<Stretch> stretches(const std::vector<Night>& nights, auto text_of) {
  std::vector<Stretch> all;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    std::string text = text_of(nights[i]);
    if (all.empty() || all.back().text != text) all.push_back({i, i, std::move(text)});
    all.back().end = i + 1;
  }
  return all;
}

class Drawing {
 public:
  explicit Drawing(const std::vector<Night>& nights) : nights_(nights) {}

  // Named where they are wide enough.
  void add_stretches(const char* name, auto text_of) {
    begin_row(name, kTextRow);
    bool is_odd = false;
    std::string lines[2];
    double next = 0;  // of a telephone's names
    for (const Stretch& stretch : stretches(nights_, text_of)) {
      lines[is_odd] += fmt::format("M{} {}H{}", stretch.first, height_ - 3, stretch.end);
      is_odd = !is_odd;
      const double start = share(stretch.first);
      if (share(stretch.end) - start < kNarrowestNamed) continue;
      const bool is_always = start >= next;
      if (is_always) next = start + kNarrowestOnTelephone;
      texts_ += fmt::format("<text x=\"{}%\" y=\"{}\"{}>{}</text>", coordinate(100 * start),
                            height_ - 6, is_always ? "" : " class=\"wide\"", escaped(stretch.text));
    }
    add_path("", lines[0]);
    add_path(" class=\"odd\"", lines[1]);
  }

  // Where it differs from the night before.
  void add_ticks(const char* name, auto text_of) {
    begin_row(name, kTickRow);
    std::string ticks;
    for (const Stretch& stretch : stretches(nights_, text_of)) {
      ticks += fmt::format("M{}.5 {}v8", stretch.first, height_ - 10);
    }
    add_path("", ticks);
  }

  void add_cards() {
    std::map<std::string, std::string> paths;  // by row
    std::map<std::string, std::size_t> nights_of;
    for (const Night& night : nights_) ++nights_of[night.card];
    std::vector<std::pair<std::size_t, std::string>> most;
    for (const auto& [card, count] : nights_of) most.emplace_back(count, card);
    std::ranges::sort(most, std::greater<>());
    for (std::size_t row = 0; row < std::min(most.size(), kMostCards); ++row) {
      const bool is_rest = row + 1 == kMostCards && most.size() > kMostCards;
      begin_row(is_rest ? "other cards" : card_name(most[row].second), kCardRow);
      std::string path;
      for (const Stretch& stretch : stretches(nights_, [](const Night& one) { return one.card; })) {
        const auto rank =
            std::ranges::find(most, stretch.text, &std::pair<std::size_t, std::string>::second);
        const auto own = static_cast<std::size_t>(rank - most.begin());
        if (own == row || (is_rest && own > row)) {
          path += fmt::format("M{} {}H{}", stretch.first, height_ - 5, stretch.end);
        }
      }
      add_path(" class=\"odd\" stroke-width=\"6\"", path);
    }
  }

  NightsStrip take() && {
    return {.svg = fmt::format(fmt::runtime(kOpening), "100%", height_) +
                   fmt::format("<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">{}</svg>",
                               nights_.size(), height_, paths_) +
                   texts_ + "</svg>\n",
            .names = fmt::format(fmt::runtime(kOpening), "67", height_) + names_ + "</svg>\n",
            .height = height_};
  }

 private:
  void begin_row(const std::string& name, int height) {
    height_ += height;
    names_ += fmt::format("<text x=\"61\" y=\"{}\" text-anchor=\"end\" font-size=\"10\">{}</text>",
                          height_ - 3, escaped(name));
  }

  void add_path(const char* attributes, const std::string& path) {
    if (!path.empty()) paths_ += fmt::format("<path{} d=\"{}\"/>", attributes, path);
  }

  // Of the width.
  double share(std::size_t night) const {
    return static_cast<double>(night) / static_cast<double>(nights_.size());
  }

  static std::string card_name(const std::string& card) {
    const std::size_t start = card.starts_with("GPU-") ? 4 : 0;
    return card.empty() ? "no card" : card.substr(start, kShownOfCard);
  }

  const std::vector<Night>& nights_;
  int height_ = 0;
  std::string paths_, texts_, names_;
};

}  // namespace

NightsStrip nights_strip(const std::vector<Night>& nights) {
  Drawing drawing(nights);
  drawing.add_stretches("month", [](const Night& one) { return night_date(one).substr(0, 7); });
  drawing.add_ticks("commits", [](const Night& one) { return one.commit; });
  drawing.add_stretches("driver", [](const Night& one) { return one.driver; });
  drawing.add_stretches("CUDA",
                        [](const Night& one) { return one.cuda + ", cuBLAS " + one.cublas; });
  drawing.add_cards();
  return std::move(drawing).take();
}

std::string nights_script(const std::vector<Night>& nights) {
  nlohmann::json list = nlohmann::json::array();
  const auto with = [](const char* what, const std::string& text, std::size_t most) {
    return text.empty() ? "" : what + baselines::printable(text.substr(0, most));
  };
  for (const Night& night : nights) {
    list.push_back({night_date(night), with("commit ", night.commit, kCommitInScript),
                    with("card ", night.card, kShownOfCard + 4),
                    with("driver ", night.driver, 40)});
  }
  std::string text = list.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // Nothing in it can end a script, wherever it may come to stand.
  for (std::size_t at = 0; (at = text.find('<', at)) != text.npos;) text.replace(at, 1, "\\u003c");
  return "window.fusegateNights=" + text + ";\n";
}

}  // namespace fusegate::ci
