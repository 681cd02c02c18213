// A statement that was published for one card, held against what was measured on another: findings,
// each answered by a stated rule, and the verdict that follows from them. Text is Markdown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::ci {

enum class Answer { kYes, kNo, kUnknown };

// Kleene's three-valued logic: no where any is no, else unknown where any is unknown, else yes.
// Unknown where there is none.
Answer all_of(const std::vector<Answer>& answers);
// Yes where any is yes, else unknown where any is unknown, else no. Unknown where there is none.
Answer any_of(const std::vector<Answer>& answers);
Answer answer_of(bool yes);

struct Finding {
  std::string question;  // a sentence that is true, false, or cannot be told: the rule itself
  // Nothing: it is shown beside the others and decides nothing.
  std::optional<Answer> answer = Answer::kUnknown;
  std::vector<std::string> seen{};  // the figures that it is answered by
  std::string missing{};            // what it would take; only where the answer is unknown
};

enum class Holds { kHolds, kDoesNotHold, kCannotBeTold };
// "holds", "does not hold", "cannot be told".
std::string_view holds_text(Holds holds);

struct Claim {
  enum class Origin { kSeries, kBeyond };  // beyond: asked of the same kernels, not stated there
  Origin origin = Origin::kSeries;
  std::string statement;
  std::string published;  // the figure for the published card, or that there is none
  std::vector<Finding> findings;
  // Most statements need all of their findings; "somewhere fusion loses" needs one.
  bool any_suffices = false;
};

Holds verdict_of(const Claim& claim);

// Of the findings that keep a claim from being told, each once, in their order.
std::vector<std::string> missing_of(const Claim& claim);

}  // namespace fusegate::ci
