// The report as GitHub Markdown, for a pull request's comment and a job's summary: the verdict
// first, then the rows that matter, the rest folded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ci/report/report.h"

namespace fusegate::ci {

// GitHub refuses comments above 65,536 characters.
inline constexpr std::size_t kMarkdownLimit = 60'000;

// Never longer than the limit: tables are cut, those that matter last, and say how many rows are
// left out.
std::string markdown_report(const Report& report, std::size_t limit = kMarkdownLimit);

// For a comparison that ended before any verdict.
std::string markdown_failure(std::string_view title, std::string_view problem);

}  // namespace fusegate::ci
