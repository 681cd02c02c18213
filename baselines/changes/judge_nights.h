// From nights to change points: what changed, from which night on, and whose doing it was.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/changes/missing_data.h"
#include "baselines/history/change_point.h"
#include "baselines/history/night.h"
#include "baselines/statistics/cusum.h"

namespace fusegate::baselines {

struct JudgeNightsOptions {
  // At most one false alarm in 100 nights over 344 benchmarks: docs/evidence/change-points.md.
  CusumRule benchmarks{};
  CusumRule families{};
  // A benchmark that is known less well is undecided.
  double largest_standard_error = 0.01;
};

struct Judged {
  std::vector<ChangePoint> changes;  // by the night that raised them
  std::vector<MissingData> missing;
};

// nights: oldest first. What a night raises depends on the nights up to it alone. Devices are
// judged apart.
Judged judge_nights(std::span<const Night> nights, std::int64_t now_unix_s,
                    const JudgeNightsOptions& options = {});

}  // namespace fusegate::baselines
