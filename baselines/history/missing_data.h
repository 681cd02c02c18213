// What stopped reporting: a benchmark, a card, a runner, a night.
#pragma once

#include <string>

namespace fusegate::baselines {

struct MissingData {
  std::string what;
  std::string since;
  std::string text;
};

}  // namespace fusegate::baselines
