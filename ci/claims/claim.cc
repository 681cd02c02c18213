#include "ci/claims/claim.h"

#include <algorithm>

namespace fusegate::ci {
namespace {

bool contains(const std::vector<Answer>& answers, Answer wanted) {
  return std::ranges::find(answers, wanted) != answers.end();
}

}  // namespace

Answer all_of(const std::vector<Answer>& answers) {
  if (contains(answers, Answer::kNo)) return Answer::kNo;
  return answers.empty() || contains(answers, Answer::kUnknown) ? Answer::kUnknown : Answer::kYes;
}

Answer any_of(const std::vector<Answer>& answers) {
  if (contains(answers, Answer::kYes)) return Answer::kYes;
  return answers.empty() || contains(answers, Answer::kUnknown) ? Answer::kUnknown : Answer::kNo;
}

Answer answer_of(bool yes) { return yes ? Answer::kYes : Answer::kNo; }

std::string_view holds_text(Holds holds) {
  switch (holds) {
    case Holds::kHolds:
      return "holds";
    case Holds::kDoesNotHold:
      return "does not hold";
    case Holds::kCannotBeTold:
      return "cannot be told";
  }
  return "";
}

Holds verdict_of(const Claim& claim) {
  std::vector<Answer> answers;
  for (const Finding& finding : claim.findings) {
    if (finding.answer) answers.push_back(*finding.answer);
  }
  switch (claim.any_suffices ? any_of(answers) : all_of(answers)) {
    case Answer::kYes:
      return Holds::kHolds;
    case Answer::kNo:
      return Holds::kDoesNotHold;
    case Answer::kUnknown:
      break;
  }
  return Holds::kCannotBeTold;
}

std::vector<std::string> missing_of(const Claim& claim) {
  std::vector<std::string> all;
  for (const Finding& finding : claim.findings) {
    const bool told = finding.answer != Answer::kUnknown || finding.missing.empty();
    if (!told && std::ranges::find(all, finding.missing) == all.end()) {
      all.push_back(finding.missing);
    }
  }
  return all;
}

}  // namespace fusegate::ci
