#include "baselines/io/pattern.h"

#include <vector>

namespace fusegate::baselines {
namespace {

// Follows all steps of a program at once, character by character (Thompson, "Regular Expression
// Search Algorithm", 1968): each step is tried once per character.
class Matcher {
 public:
  Matcher(const PatternProgram& program, std::string_view name)
      : program_(program), name_(name), seen_at_(program.size(), kNever) {}

  bool search() {
    for (std::size_t at = 0; at <= name_.size(); ++at) {
      // Searched for, it may begin anywhere.
      if (reach(0, at)) return true;
      if (at == name_.size()) break;
      const auto c = static_cast<unsigned char>(name_[at]);
      last_.swap(waiting_);
      waiting_.clear();
      for (const std::size_t step_index : last_) {
        if (program_[step_index].characters.test(c) && reach(step_index + 1, at + 1)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  // Whether the end of the program is among what is reached without another character.
  bool reach(std::size_t from, std::size_t at) {
    pending_.assign(1, from);
    while (!pending_.empty()) {
      const std::size_t step_index = pending_.back();
      pending_.pop_back();
      if (step_index == program_.size()) return true;
      if (seen_at_[step_index] == at) continue;
      seen_at_[step_index] = at;
      const PatternStep& step = program_[step_index];
      switch (step.kind) {
        case PatternStep::kCharacter:
          waiting_.push_back(step_index);
          break;
        case PatternStep::kEither:
          pending_.push_back(step_index + step.other);
          pending_.push_back(step_index + step.next);
          break;
        default:
          if (holds(step.kind, at)) pending_.push_back(step_index + 1);
      }
    }
    return false;
  }

  bool is_word_at(std::size_t at) const {
    return at < name_.size() && is_word_character(name_[at]);
  }
  bool holds(PatternStep::Kind kind, std::size_t at) const {
    const bool before = at > 0 && is_word_at(at - 1);
    const bool behind = is_word_at(at);
    switch (kind) {
      case PatternStep::kStart:
        return at == 0;
      case PatternStep::kEnd:
        return at == name_.size();
      case PatternStep::kWordStart:
        return !before && behind;
      case PatternStep::kWordEnd:
        return before && !behind;
      case PatternStep::kWordEdge:
        return before != behind;
      default:
        return before == behind;
    }
  }

  const PatternProgram& program_;
  std::string_view name_;
  std::vector<std::size_t> seen_at_;  // by step_index
  std::vector<std::size_t> waiting_, last_, pending_;
};

}  // namespace

Pattern::Pattern(std::string_view text) : program_(pattern_program(text)) {}

bool Pattern::fits(std::string_view name) const { return Matcher(program_, name).search(); }

}  // namespace fusegate::baselines
