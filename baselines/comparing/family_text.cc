// A family's finding in words.
#include <fmt/format.h>

#include <algorithm>

#include "baselines/comparing/families.h"

namespace fusegate::baselines {
namespace {

std::string counted(std::size_t some, std::size_t all, std::string_view one,
                    std::string_view several) {
  if (all == 1) return std::string(one);
  if (some == all) return fmt::format("all {} are {}", all, several);
  return some == 1 ? fmt::format("1 of {} is {}", all, one)
                   : fmt::format("{} of {} are {}", some, all, several);
}

void append(std::string& text, std::string_view part) {
  if (!text.empty()) text += ", ";
  text += part;
}

}  // namespace

std::string rows_text(const FamilyFinding& finding) {
  std::string text;
  const std::size_t rows = finding.rows.size();
  if (finding.regressions > 0) {
    append(text, counted(finding.regressions, rows, "a regression", "regressions"));
  }
  if (finding.improvements > 0) {
    append(text, counted(finding.improvements, rows, "an improvement", "improvements"));
  }
  if (text.empty()) {
    text = fmt::format("together {}, no single row is certain", trend_name(finding.trend));
  } else if (!finding.certain_together && rows > 1) {
    append(text, fmt::format("not {} as a whole", trend_name(finding.trend)));
  }
  if (finding.rows_differ) {
    const auto [least, most] = std::ranges::minmax(finding.rows, {}, &FamilyRow::shrunken_effect);
    append(text, fmt::format("rows differ, from {:+.2f} % to {:+.2f} %",
                             100 * least.shrunken_effect, 100 * most.shrunken_effect));
  }
  return text;
}

}  // namespace fusegate::baselines
