// One quantity (time, cycles, or time at equal clock) over the benchmarks of a suite that have it.
#pragma once

#include <vector>

#include "baselines/comparing/comparison.h"
#include "baselines/statistics/two_sides.h"

namespace fusegate::baselines {

struct QuantityRow {
  Comparison* comparison = nullptr;
  Contrast* contrast = nullptr;  // of the quantity; the comparison owns it
  TwoSides sides{};
  VarianceEstimate noise{};  // of one process, moderated over the suite
};

struct QuantityRows {
  Quantity quantity = Quantity::kTime;
  std::vector<QuantityRow> rows{};  // in the suite's order
};

// Which of a run's processes enter.
enum class Part { kAll, kExtension };

// Both sides' logarithms. A stored baseline has no extension, and is compared whole with the
// candidate's.
TwoSides sides_of(const Comparison& comparison, Quantity quantity,
                  const Circumstances& circumstances, Part part = Part::kAll);

// Contrasts every benchmark that has the quantity (moderated_contrasts.h), and keeps the noise of
// the one that decides.
QuantityRows contrast_rows(std::vector<Comparison>& suite, Quantity quantity,
                           const Circumstances& circumstances);

}  // namespace fusegate::baselines
