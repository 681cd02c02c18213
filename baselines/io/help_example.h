// What --help of a program or of a command ends in.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fusegate::baselines {

// Puts a call under "Example:" at the end of --help.
void add_example(CLI::App& app, const std::string& call);

}  // namespace fusegate::baselines
