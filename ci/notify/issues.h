// Alerts as issues of a GitHub repository, one each. An issue is found again by a mark in its body
// that readers do not see; the label makes it one of ours, as only who may triage sets labels.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ci/notify/alert.h"
#include "ci/notify/http.h"

namespace fusegate::ci {

struct IssueTarget {
  std::string repository{};  // "OWNER/REPO"
  std::string label{};       // of one history: it says what is missing for all issues with it
  std::string page{};        // a link for people; may be empty
  std::string api{};         // "https://api.github.com"
  std::string token{};
  std::size_t most_new = 10;  // issues that one call opens
};

// What GitHub shows. Owners are mentioned, and nobody else is.
std::string issue_title(const Alert& alert);
std::string issue_body(const Alert& alert, const std::string& page);

// Opens an issue for each alert that stands, needs action and has none; rewrites open ones whose
// alert says something else now; closes those of alerts that are gone, and, where all that is
// missing is among the alerts, of what reports again. Issues that somebody closed stay as they are.
// So a second call does nothing. say: a line for each issue that it touched. Throws InputError
// naming host and repository, and what to do.
void settle_issues(const IssueTarget& target, std::span<const Alert> alerts, bool has_missing,
                   const Http& http, const std::function<void(const std::string&)>& say);

}  // namespace fusegate::ci
