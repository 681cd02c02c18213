// When a level changed, and the size of the change.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "baselines/changes/pelt.h"

namespace fusegate::baselines {

struct DatedChange {
  std::size_t first = 0;  // element after the change
  double effect = 0;      // logarithm
  double variance = 0;    // of it
  KnownNormal after{};    // the level since then
};

// The last change of the series, of two elements at least; an alarm says that there is one. PELT
// dates it, and where that finds none, the likeliest split. An odd night counts as 3.5 standard
// errors. is_likely: elements at which something is known to have changed. Of these the likeliest
// is taken where the likelihood is at least exp(-2) of the best: the 95 % likelihood interval.
DatedChange date_change(std::span<const KnownNormal> values,
                        const std::function<bool(std::size_t)>& is_likely);

// A change whose first element is known.
DatedChange change_at(std::span<const KnownNormal> values, std::size_t first);

}  // namespace fusegate::baselines
