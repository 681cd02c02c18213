// The command line: what the commands are called, what they take, and what they do by default.
#pragma once

#include "ci/console/console.h"

namespace fusegate::ci {

// Never throws for what the user wrote: a wrong command line is a command too, which says so and
// ends with 2; --help is one that prints help.
Command parse_command_line(int argc, char** argv);

}  // namespace fusegate::ci
