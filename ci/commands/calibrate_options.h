// The command line of `fusegate calibrate`.
#pragma once

#include <CLI/CLI.hpp>

#include "ci/commands/calibrate.h"

namespace fusegate::ci {

// Adds the flags that fill the request. The request must outlive the parser.
void add_calibrate_options(CLI::App& app, CalibrateRequest& request);

}  // namespace fusegate::ci
