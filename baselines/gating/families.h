// The verdicts of one implementation along the sweep in one line: "geglu/fused/bf16: 12 rows, +1.2
// % on average, from +0.1 to +3.4 %, 9 regressions". It informs; no verdict and no exit code comes
// of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

struct Family {
  std::string name;             // family_of() its rows
  std::size_t rows = 0;         // that have an effect
  std::size_t regressions = 0;  // among them
  std::size_t improvements = 0;
  double mean_effect = 0;  // of the geometric mean of candidate over baseline
  double lowest_effect = 0;
  double highest_effect = 0;

  bool changed() const { return regressions + improvements > 0; }
};

// What one slower kernel slows: the leading parts of the name up to the first that is a parameter,
// which has a colon or is a number. "geglu/fused/bf16" of "geglu/fused/bf16/batch:64/seq:128",
// "BM_copy" of "BM_copy/4096".
std::string_view family_of(std::string_view benchmark);

// Of verdicts that have an effect of the code: no controls and no identical code. The slowest
// first.
std::vector<Family> families_of(const std::vector<Verdict>& verdicts);

}  // namespace fusegate::baselines
