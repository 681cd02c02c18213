// Control benchmarks tell "the machine moved" from "the code moved". A control's code is the
// driver's or a library's and nobody's change touches it (its name starts with "control", as in
// "control_copy/memcpy/..."), so where it differs between two runs, the machine does: clock,
// temperature, memory. Then nothing is blamed on the code unless it got slower by more than that.
#pragma once

#include <string_view>
#include <vector>

#include "baselines/comparing/comparison.h"

namespace fusegate::baselines {

bool is_control(std::string_view benchmark);

// How far the machine moved, as logarithms, zero or positive each.
struct Shift {
  double slower = 0;
  double faster = 0;
};

struct Drift {
  Shift time;
  Shift cycles;
  Shift equal_clock;
};

// The largest difference among the controls that differ from zero for certain: at 1 % over all
// controls, all quantities and both directions together (Bonferroni). Marks those as moved.
Drift drift_of(std::vector<Comparison>& suite);

}  // namespace fusegate::baselines
