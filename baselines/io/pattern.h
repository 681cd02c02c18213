// Names picked by a pattern: an extended regular expression (POSIX), searched for in the name.
#pragma once

#include <string>
#include <string_view>

#include "baselines/io/pattern_program.h"

namespace fusegate::baselines {

// Neither <regex> nor regcomp(): both take the stack a bracket, and time or memory without bounds.
// This one takes at most the product of the lengths of pattern and name, and no stack. What
// regcomp() takes and this does not are references back (\1), which are no regular expressions.
class Pattern {
 public:
  // Throws std::invalid_argument for what is no regular expression, or is too large a one.
  explicit Pattern(std::string_view text);

  bool fits(std::string_view name) const;

 private:
  PatternProgram program_;
};

}  // namespace fusegate::baselines
