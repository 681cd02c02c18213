#include "ci/commands/measuring/all_commands.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ci/commands/measuring/commands.h"

namespace fusegate::ci {
namespace {

std::vector<CommandLine::AddCommand> all_commands() {
  return {add_run,    add_init,        add_duet,    add_replay,    add_job,         add_gate,
          add_accept, add_acknowledge, add_report,  add_site,      add_show,        add_explain,
          add_bisect, add_confirm,     add_history, add_export,    add_notify,      add_triage,
          add_codes,  add_codes_diff,  add_doctor,  add_calibrate, add_trace_table, add_trace_check,
          add_plan,   add_merge,       add_slurm};
}

// Cut here and not by CLI11, whose versions treat what follows "--" differently.
struct Arguments {
  explicit Arguments(const std::vector<std::string>& all) {
    const auto separator = std::ranges::find(all, "--");
    separated = separator != all.end();
    own.assign(all.begin(), separator);
    passed_on.assign(separated ? separator + 1 : all.end(), all.end());
  }

  std::vector<std::string> own, passed_on;
  bool separated = false;
};

}  // namespace

Command parse_command_line(int argc, char** argv) {
  const Arguments arguments({argv + 1, argv + argc});
  return CommandLine(arguments.passed_on, all_commands()).parse(arguments.own, arguments.separated);
}

std::string problem_of_arguments(const std::vector<std::string>& all) {
  const Arguments arguments(all);
  return CommandLine(arguments.passed_on, all_commands())
      .problem_of(arguments.own, arguments.separated);
}

}  // namespace fusegate::ci
