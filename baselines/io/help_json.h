// What --help of a program says, as JSON. The reference, the man pages and the completion of shells
// are made of it (docs/reference), so that none of them can say anything else than the program
// does.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace CLI {
class App;
}

namespace fusegate::baselines {

// {"name", "description", "footer", "options": [...], "commands": [the same of each subcommand]}.
// Of an option, in the order in which --help has them: "names" (dashes included; of an argument
// that is told by its place, one without), "topic", "description", "value" (what --help says that
// it takes, such as "INT:INT in [1 - 9]"; empty for a flag), "default", "required", "repeats"
// (given several times, all count), "takes_several" (values behind one name), "delimiter" (between
// values; empty where there is none), "excludes", "needs" and "environment". What --help does not
// show is not in it either.
nlohmann::json help_json(const CLI::App& app);

// Puts a call under "Example:" at the end of --help, and of the footer in JSON.
void add_example(CLI::App& app, const std::string& call);

// Adds --help-json, which prints that and ends, to the options. --help does not show it.
void add_help_json(CLI::App& app);

}  // namespace fusegate::baselines
