#include "ci/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "ci/console/format.h"
#include "ci/page/html.h"
#include "ci/page/pictures.h"
#include "ci/page/style.h"
#include "ci/page/table_html.h"

namespace fusegate::ci {
namespace {

// Of fewer sections there is no list.
constexpr std::size_t kFewestListed = 4;

std::string class_of(Tone tone) {
  const std::string name = tone_class(tone);
  return name.empty() ? "" : fmt::format(" class=\"{}\"", name);
}

// "section-where-fusion-wins"
std::string stem_of(std::string_view title) {
  std::string stem = "section";
  bool is_in_word = false;
  for (const char c : title) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_word && !is_in_word) stem += '-';
    if (is_word) stem += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    is_in_word = is_word;
  }
  return stem;
}

// Names of sections for links to them, none twice; empty for one without a title.
std::vector<std::string> anchors_of(const std::vector<Section>& sections) {
  std::set<std::string> taken;
  std::vector<std::string> anchors;
  for (const Section& section : sections) {
    const std::string stem = stem_of(section.title);
    std::string name = stem;
    for (int i = 2; !section.title.empty() && !taken.insert(name).second; ++i) {
      name = fmt::format("{}-{}", stem, i);
    }
    anchors.push_back(section.title.empty() ? "" : name);
  }
  return anchors;
}

std::string section_html(const Section& section, int level, const std::string& anchor);

std::string contents_html(const Section& section, int level) {
  std::string html;
  for (const std::string& sentence : section.sentences) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", escaped(sentence));
  }
  if (!section.notes.empty()) {
    html += "<ul>\n";
    for (const Cell& note : section.notes) {
      html += fmt::format("<li{}>{}</li>\n", class_of(note.tone), escaped(note.text));
    }
    html += "</ul>\n";
  }
  html += table_html(section);
  if (!section.commands.empty()) {
    std::string lines;
    for (const std::string& command : section.commands) lines += escaped(command) + '\n';
    html += fmt::format("<pre tabindex=\"0\">{}</pre>\n", lines);
  }
  if (!section.pictures.empty()) {
    html += "<div class=\"pictures\">\n";
    for (const Picture& picture : section.pictures) html += picture_html(picture);
    html += "</div>\n";
  }
  for (const Section& part : in_page_order(section.parts))
    html += section_html(part, level + 1, "");
  return html;
}

std::string section_html(const Section& section, int level, const std::string& anchor) {
  const std::string id = anchor.empty() ? "" : fmt::format(" id=\"{}\"", anchor);
  const std::string contents = contents_html(section, level);
  if (section.fold == Fold::kAlways) {
    return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", id,
                       escaped(section.title), contents);
  }
  if (section.title.empty()) return contents;
  return fmt::format("<h{0}{1}>{2}</h{0}>\n{3}", level, id, escaped(section.title), contents);
}

std::string facts_html(const std::vector<Fact>& facts) {
  if (facts.empty()) return "";
  std::string html = "<dl>\n";
  for (const Fact& fact : facts) {
    std::string text = escaped(fact.text.text);
    if (!fact.text.href.empty()) {
      text = fmt::format("<a href=\"{}\">{}</a>", escaped(fact.text.href), text);
    }
    html += fmt::format("<dt>{}</dt><dd{}>{}</dd>\n", escaped(fact.label), class_of(fact.text.tone),
                        text);
  }
  return html + "</dl>\n";
}

std::string all_facts_html(const Document& document, const PageSettings& settings) {
  if (settings.has_open_facts) return facts_html(document.facts);
  const auto [toned, plain] = toned_and_plain(document.facts);
  std::string html = facts_html(toned);
  if (plain.empty()) return html;
  return html + fmt::format("<details><summary>{}</summary>\n{}</details>\n",
                            escaped(facts_summary(plain)), facts_html(plain));
}

std::string list_html(const std::vector<Section>& sections,
                      const std::vector<std::string>& anchors) {
  std::string html;
  std::size_t listed = 0;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (anchors[i].empty()) continue;
    html +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", anchors[i], escaped(sections[i].title));
    ++listed;
  }
  if (listed < kFewestListed) return "";
  return fmt::format("<nav aria-label=\"Contents\"><ul>{}</ul></nav>\n", html);
}

std::string links_html(const PageSettings& settings) {
  if (settings.links.empty()) return "";
  std::string html = "<nav aria-label=\"Pages\"><ul>";
  for (const auto& [text, address] : settings.links) {
    html += fmt::format("<li><a href=\"{}\">{}</a></li>\n", escaped(address), escaped(text));
  }
  return html + "</ul></nav>\n";
}

std::string style_html(const PageSettings& settings) {
  if (!settings.assets) return fmt::format("<style>\n{}</style>\n", style_sheet());
  return fmt::format("<link rel=\"stylesheet\" href=\"{}style.css\">\n", escaped(*settings.assets));
}

std::string script_html(const PageSettings& settings) {
  if (!settings.assets) return fmt::format("<script>\n{}</script>\n", page_script());
  std::string html;
  for (const std::string& script : settings.scripts) {
    html += fmt::format("<script src=\"{}\"></script>\n", escaped(script));
  }
  return html + fmt::format("<script src=\"{}page.js\"></script>\n", escaped(*settings.assets));
}

std::string header_html(const Document& document, const PageSettings& settings) {
  std::string outcome = document.outcome;
  std::ranges::replace(outcome, ' ', '-');
  std::string html =
      fmt::format("<header>\n{}<h1>{}</h1>\n", links_html(settings), escaped_name(document.title));
  if (!document.headline.empty()) {
    html += fmt::format("<div class=\"verdict {}\"><strong>{}</strong> {}</div>\n",
                        escaped(outcome), escaped(document.outcome), escaped(document.headline));
  }
  if (!document.summary.empty()) html += fmt::format("<p>{}.</p>\n", escaped(document.summary));
  return html;
}

}  // namespace

std::string page_html(const Document& document, const PageSettings& settings) {
  const std::vector<Section> sections = in_page_order(document.sections);
  const std::vector<std::string> anchors = anchors_of(sections);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n{}</head>\n<body>\n",
      escaped(document.title), style_html(settings));
  html += header_html(document, settings) + list_html(sections, anchors) +
          all_facts_html(document, settings) + "</header>\n<main>\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    html += section_html(sections[i], 2, anchors[i]);
  }
  return html + "</main>\n" + script_html(settings) + "</body>\n</html>\n";
}

}  // namespace fusegate::ci
