// Measures the programs of a run in turn. The protocol: lock the folders; identify what the
// programs launch; select what differs, and controls; measure the minimum; measure again where a
// process was an outlier; extend by interim analyses; record.
#pragma once

#include <vector>

#include "ci/console/console.h"
#include "ci/processes/progress.h"
#include "ci/run/measuring_request.h"

namespace fusegate::ci {

double steady_seconds();

struct RunResult {
  RunEnd end = RunEnd::kAll;
  bool all_well = false;               // every process ended well, and nobody interrupted
  bool measured_anything = false;      // false where no code differs and no record was asked for
  std::vector<ProgramRun> programs{};  // with their locked folders
  std::vector<std::string> notes{};    // for the report: what a budget chose
};

// Throws InputError for folders that cannot be measured into, and where a program can measure
// nothing at all; what was measured stays in the folders. now: a steady clock in seconds; tests
// bring their own.
RunResult measure_run(const MeasuringRequest& request, const RunAnalyses& analyses,
                      Console& console, ProgressDisplay::Now now = steady_seconds);

}  // namespace fusegate::ci
