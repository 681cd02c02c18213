#include "baselines/launches/expectation.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace fusegate::baselines
