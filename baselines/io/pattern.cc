#include "baselines/io/pattern.h"

#include <fmt/format.h>

#include <stdexcept>

namespace fusegate::baselines {

Pattern::Pattern(const std::string& text) {
  if (regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) return;
  throw std::invalid_argument(fmt::format("\"{}\" is no regular expression", text));
}

bool Pattern::fits(const std::string& name) const {
  return regexec(&expression_, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace fusegate::baselines
