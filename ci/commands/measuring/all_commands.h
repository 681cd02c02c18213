// A command line of `fusegate`, with all its commands.
#pragma once

#include "ci/commands/reading/command_line.h"

namespace fusegate::ci {

// Never throws for what the user wrote: a wrong command line is a command too, which says so and
// ends with 2; --help is one that prints help.
Command parse_command_line(int argc, char** argv);

// What is wrong with the arguments of a command line; empty where nothing is.
std::string problem_of_arguments(const std::vector<std::string>& arguments);

}  // namespace fusegate::ci
