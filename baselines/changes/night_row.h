// A benchmark in the night that is judged.
#pragma once

#include <cstddef>
#include <vector>

#include "baselines/changes/level.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

struct NightRow {
  std::size_t benchmark = 0;  // its number, from the first night in which it was
  const NightBenchmark* own = nullptr;
  // Than in the night before that had it. Where an identity is not known, the code counts as the
  // same.
  bool is_new_code = false;
  CodeLevel code{};  // before this night
  Figure replay{};
  Figure stored{};
  // Where the environment is another one than the card's level is of: what the stored figure moved
  // by, but for the code.
  Figure moved{};

  // What tonight's code takes: the replay measured it, or else it is what it was.
  CodeLevel code_tonight() const {
    return replay.is_judged ? CodeLevel{replay.value, replay.variance} : code;
  }
  bool is_code_known_tonight() const { return replay.is_judged || !is_new_code; }
};
using NightRows = std::vector<NightRow>;

}  // namespace fusegate::baselines
