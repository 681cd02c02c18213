// Names picked by a pattern: an extended regular expression (POSIX), searched for in the name.
#pragma once

#include <string>
#include <string_view>

#include "baselines/io/pattern_program.h"

namespace fusegate::baselines {

// Not <regex> or regcomp(): both recurse per bracket, and need unbounded time or memory. This one
// needs at most the product of the lengths of pattern and name, and no recursion. Of regcomp()'s
// syntax it lacks back references (\1).
class Pattern {
 public:
  // Throws std::invalid_argument for text that is not a regular expression, or is too large.
  explicit Pattern(std::string_view text);

  bool fits(std::string_view name) const;

 private:
  PatternProgram program_;
};

}  // namespace fusegate::baselines
