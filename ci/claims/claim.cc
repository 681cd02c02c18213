#include "ci/claims/claim.h"

#include <algorithm>

namespace fusegate::ci {

Answer answer_of(bool yes) { return yes ? Answer::kYes : Answer::kNo; }

Answer not_of(Answer answer) {
  return answer == Answer::kUnknown ? answer : answer_of(answer == Answer::kNo);
}

Answer any_of(const std::vector<Answer>& answers) {
  if (std::ranges::find(answers, Answer::kYes) != answers.end()) return Answer::kYes;
  const bool all_told = std::ranges::find(answers, Answer::kUnknown) == answers.end();
  return !answers.empty() && all_told ? Answer::kNo : Answer::kUnknown;
}

Answer all_of(const std::vector<Answer>& answers) {
  std::vector<Answer> opposite;
  for (const Answer answer : answers) opposite.push_back(not_of(answer));
  return not_of(any_of(opposite));
}

Answer verdict_of(const Claim& claim) {
  std::vector<Answer> answers;
  for (const Finding& finding : claim.findings) {
    if (finding.answer) answers.push_back(*finding.answer);
  }
  return claim.any_suffices ? any_of(answers) : all_of(answers);
}

}  // namespace fusegate::ci
