// What stopped reporting: a benchmark, a card, a runner, a night.
#pragma once

#include <string>
#include <vector>

namespace fusegate::baselines {

struct MissingData {
  std::string what;  // "nights", "benchmarks", "suite", "card GPU-...", "machine NAME", "undecided"
  std::string since;    // the last session before it
  std::string text;     // a sentence
  std::string until{};  // the session that ended it; "" while it lasts
  std::vector<std::string> benchmarks{};
};

}  // namespace fusegate::baselines
