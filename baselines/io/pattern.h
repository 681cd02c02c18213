// Names picked by a pattern: an extended regular expression (POSIX), searched for in the name.
#pragma once

#include <regex.h>

#include <string>

namespace fusegate::baselines {

// Not <regex>, in which g++ 12 finds uninitialised variables when it builds with sanitizers.
class Pattern {
 public:
  // Throws std::invalid_argument for what is no regular expression.
  explicit Pattern(const std::string& text);
  ~Pattern() { regfree(&expression_); }
  // What regcomp made may point into itself.
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool fits(const std::string& name) const;

 private:
  regex_t expression_{};
};

}  // namespace fusegate::baselines
