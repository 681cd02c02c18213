// From nights to change points: what changed, from which night on, and whose doing it was.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/changes/find_missing.h"
#include "baselines/changes/judge_nights_options.h"
#include "baselines/history/change_point.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

struct Judged {
  std::vector<ChangePoint> changes;  // by the night that raised them
  std::vector<MissingData> missing;
};

// nights: oldest first. What a night raises depends on the nights up to it alone. Devices are
// judged apart.
Judged judge_nights(std::span<const Night> nights, std::int64_t now_unix_s,
                    const JudgeNightsOptions& options = {});

}  // namespace fusegate::baselines
