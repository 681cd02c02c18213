// Whether a stored baseline is out of date: it may be old, made with other libraries, or of other
// benchmarks than those that are measured now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/record/baseline.h"
#include "baselines/record/environment.h"

namespace fusegate::baselines {

inline constexpr double kDefaultMaxAgeDays = 30;

struct Staleness {
  std::string accepted;  // when, as its file says
  // From its acceptance to the candidate's measurement; nothing where either has no date.
  std::optional<double> age_days;
  double max_age_days = kDefaultMaxAgeDays;
  bool too_old = false;
  // Of driver, cuda and cublas. The gate refuses these unless it is asked to allow them.
  std::vector<EnvironmentDifference> libraries;
  std::vector<std::string> not_in_baseline;   // benchmarks of the candidate
  std::vector<std::string> not_in_candidate;  // benchmarks of the baseline
};

Staleness staleness_of(const Acceptance& acceptance, const Run& baseline, const Run& candidate,
                       double max_age_days);

}  // namespace fusegate::baselines
