// What operations over several ranks come to, as a section of a report: beside what a rank computes
// of it alone, the exchange alone, and the whole on one device. Which benchmarks those are, the
// program says (baselines/record/process.h).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/benchmark_name.h"
#include "baselines/record/run.h"
#include "ci/document/document.h"
#include "ci/document/picture.h"

namespace fusegate::ci {

struct TimeOverRanks {
  baselines::BenchmarkName name;
  double time_ns = 0;
  // By the fastest implementation of each; NaN where the run has none.
  double work_ns = std::numeric_limits<double>::quiet_NaN();      // a rank's part alone
  double exchange_ns = std::numeric_limits<double>::quiet_NaN();  // all exchanges alone
  double one_ns = std::numeric_limits<double>::quiet_NaN();       // the whole on one device

  // The share of the exchange that does not show in the time: 1 where all of it is hidden.
  double hidden() const { return 1 - (time_ns - work_ns) / exchange_ns; }
  double speed_up() const { return one_ns / time_ns; }
};

// In the order of the run.
std::vector<TimeOverRanks> times_over_ranks(const baselines::Run& run);

// How the first operation, by its name, scales with the number of devices; nothing where none was
// measured on two numbers of them and on one device.
std::optional<LinePicture> scaling_picture(const std::vector<TimeOverRanks>& times);

// Empty where there are none.
Section ranks_section(const std::vector<TimeOverRanks>& times);

}  // namespace fusegate::ci
