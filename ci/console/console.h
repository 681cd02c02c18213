// Where a command writes. Library code is given these streams and never prints elsewhere.
#pragma once

#include <functional>
#include <ostream>

#include "baselines/io/exit_code.h"

namespace fusegate::ci {

struct Console {
  std::ostream& out;         // results
  std::ostream& err;         // progress, notes and errors
  bool status_line = false;  // err is a terminal: one line that updates itself
  int columns = 80;          // of that terminal
};

// A parsed command line, ready to run. Throws InputError and std::exception, which main reports.
using Command = std::function<baselines::ExitCode(Console&)>;

}  // namespace fusegate::ci
