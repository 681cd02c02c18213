// A statement that was published for one card, held against what was measured on another: findings,
// each answered by a stated rule, and the verdict that follows from them. Text is Markdown.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fusegate::ci {

enum class Answer { kYes, kNo, kUnknown };

Answer answer_of(bool yes);
Answer not_of(Answer answer);
// Kleene's three-valued logic: no where any is no, else unknown where any is
// unknown, else yes. Unknown where there is none.
Answer all_of(const std::vector<Answer>& answers);
// Yes where any is yes, else unknown where any is unknown, else no. Unknown where there is none.
Answer any_of(const std::vector<Answer>& answers);

struct Finding {
  std::string question;  // a sentence that is true, false, or cannot be told:
                         // the rule itself
  // Nothing: it is shown beside the others and decides nothing.
  std::optional<Answer> answer = Answer::kUnknown;
  std::vector<std::string> seen{};  // the figures that it is answered by
  std::string missing{};            // what it would take; only where the answer is unknown
};

struct Claim {
  std::string statement;
  std::string published;   // the figure for the published card, or that there is none
  bool is_beyond = false;  // asked of the same kernels, but not stated there
  std::vector<Finding> findings{};
  // Most statements need all of their findings; "somewhere fusion loses" needs one.
  bool any_suffices = false;
};

// Yes: it holds.
Answer verdict_of(const Claim& claim);

}  // namespace fusegate::ci
