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
          add_plan,   add_merge};
}

}  // namespace

Command parse_command_line(int argc, char** argv) {
  // Cut here and not by CLI11, whose versions treat what follows "--" differently.
  std::vector<std::string> own(argv + 1, argv + argc);
  const auto separator = std::find(own.begin(), own.end(), "--");
  const bool separated = separator != own.end();
  CommandLine line({separated ? separator + 1 : own.end(), own.end()}, all_commands());
  own.erase(separator, own.end());
  return line.parse(std::move(own), separated);
}

}  // namespace fusegate::ci
