// Names picked by a pattern: a regular expression of RE2
// (https://github.com/google/re2/wiki/Syntax), searched for in the name.
#pragma once

#include <re2/re2.h>

#include <string_view>

namespace fusegate::baselines {

// Not <regex> or regcomp(): both recurse per bracket, and need unbounded time or memory. RE2 needs
// at most the product of both lengths, and 8 MiB. Both are bytes: not every name is UTF-8.
class Pattern {
 public:
  // Throws std::invalid_argument for text that is not a regular expression, or is too large: longer
  // than an argument of a program may be, as a filter that names benchmarks is, 128 KiB.
  explicit Pattern(std::string_view text);

  bool fits(std::string_view name) const;

 private:
  re2::RE2 compiled_;
};

}  // namespace fusegate::baselines
