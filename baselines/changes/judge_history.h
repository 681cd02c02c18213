// The nights of a database, judged, and what was found kept there.
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/changes/judge_nights.h"
#include "baselines/history/history.h"

namespace fusegate::baselines {

struct JudgedHistory {
  std::vector<ChangePoint> fresh;    // that the database did not have before
  std::vector<MissingData> missing;  // now
};

// Adds change points that are new. Those that it has stay as the night that raised them saw them,
// with their confirmation and triage. Throws InputError as History does.
JudgedHistory judge_history(History& history, std::int64_t now_unix_s);

// Of all nights, what is missing now. Changes nothing.
std::vector<MissingData> missing_now(const History& history, std::int64_t now_unix_s);

}  // namespace fusegate::baselines
