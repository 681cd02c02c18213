// Where a command writes. Library code is given these and never prints elsewhere.
#pragma once

#include <functional>

#include "baselines/io/error.h"
#include "ci/console/output.h"

namespace fusegate::ci {

struct Console {
  Output out;                // results
  Output err;                // progress, notes and errors
  bool status_line = false;  // err is a terminal: one line that updates itself
  std::size_t columns = 80;  // of that terminal
};

// A parsed command line, ready to run. Throws InputError and std::exception, which main reports.
using Command = std::function<baselines::ExitCode(Console&)>;

}  // namespace fusegate::ci
