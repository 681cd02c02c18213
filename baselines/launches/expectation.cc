#include "baselines/launches/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "baselines/io/pattern.h"

namespace fusegate::baselines {

using nlohmann::json;

bool TraceExpectation::met() const { return std::ranges::all_of(parts, &ExpectationPart::met); }

json expectation_json(const TraceExpectation& expectation) {
  json parts = json::array();
  for (const ExpectationPart& part : expectation.parts) {
    parts.push_back(
        {{"part", part.part}, {"met", part.met}, {"expected", part.expected}, {"seen", part.seen}});
  }
  return {{"met", expectation.met()}, {"parts", std::move(parts)}};
}

TraceExpectation parse_expectation(const JsonField& field) {
  TraceExpectation expectation;
  for (const JsonField& part : field.at("parts").elements()) {
    expectation.parts.push_back({.part = part.at("part").text(),
                                 .expected = part.at("expected").text(),
                                 .seen = part.at("seen").text(),
                                 .met = part.at("met").boolean()});
  }
  if (field.at("met").boolean() != expectation.met()) field.at("met").fail("contradicts its parts");
  return expectation;
}

std::vector<std::string> unmet_lines(const TraceExpectation& expectation) {
  std::vector<std::string> lines;
  for (const ExpectationPart& part : expectation.parts) {
    if (part.met) continue;
    lines.push_back(fmt::format("{}: expected {}, seen {}", part.part, part.expected, part.seen));
  }
  return lines;
}

bool CountRange::holds(std::size_t count) const {
  return count >= static_cast<std::size_t>(least) &&
         (!most || count <= static_cast<std::size_t>(*most));
}

std::string CountRange::text(std::string_view what) const {
  if (!most) return fmt::format("{} or more {}", least, what);
  if (*most == 0) return fmt::format("no {}", what);
  if (least == *most) return fmt::format("{} {}", least, what);
  return least == 0 ? fmt::format("at most {} {}", *most, what)
                    : fmt::format("{} to {} {}", least, *most, what);
}

std::string names_text(const std::vector<std::string>& names) {
  // Of a name with template arguments; later ones seldom distinguish kernels.
  constexpr std::size_t kLongestName = 100;
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "...";
  }
  return text.empty() ? "nothing" : text;
}

bool kernels_met(const std::vector<CountedNames>& kinds, std::vector<std::string> kernels) {
  bool met = true;
  for (const CountedNames& kind : kinds) {
    const Pattern pattern(kind.pattern);
    const std::size_t count =
        std::erase_if(kernels, [&](const std::string& kernel) { return pattern.fits(kernel); });
    met = kind.range.holds(count) && met;
  }
  return met && kernels.empty();
}

ExpectationPart check_calls(const CountedNames& expected, const std::vector<std::string>& calls) {
  const Pattern pattern(expected.pattern);
  std::vector<std::string> fitting;
  std::ranges::copy_if(calls, std::back_inserter(fitting),
                       [&](const std::string& call) { return pattern.fits(call); });
  return {.part = "calls",
          .expected = expected.range.text(expected.what),
          .seen = names_text(fitting),
          .met = expected.range.holds(fitting.size())};
}

}  // namespace fusegate::baselines
