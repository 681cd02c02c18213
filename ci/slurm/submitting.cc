#include "ci/slurm/submitting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/write_lock.h"
#include "ci/console/format.h"
#include "ci/slurm/shard_states.h"
#include "ci/slurm/tasks.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;

SlurmSweep new_sweep(const SubmitRequest& request) {
  return {.folder = fs::absolute(request.folder).lexically_normal(),
          .plan = read_plan(request.plan),
          .command = request.command,
          .from = fs::current_path()};
}

// The one that the folder has, where it has one: the same plan and command.
SlurmSweep sweep_of(const SubmitRequest& request) {
  SlurmSweep fresh = new_sweep(request);
  if (!has_sweep(request.folder)) return fresh;
  SlurmSweep sweep = read_sweep(request.folder);
  if (shard_of(sweep.plan, 1).plan != shard_of(fresh.plan, 1).plan) {
    throw InputError(
        sweep.plan_file().string(), "",
        fmt::format("is another plan than {}; name another --out folder", request.plan.string()));
  }
  if (sweep.command != fresh.command) {
    throw InputError((sweep.folder / "slurm.json").string(), "command",
                     fmt::format("is \"{}\", and now \"{}\"; name another --out folder",
                                 fmt::join(sweep.command, " "), fmt::join(fresh.command, " ")));
  }
  return sweep;
}

std::vector<int> shards_to_submit(const std::vector<ShardState>& states) {
  std::vector<int> shards;
  for (const ShardState& state : states) {
    if (state.wants_task()) shards.push_back(state.shard);
  }
  return shards;
}

}  // namespace

void check_task_command(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 3> kCommands{"run", "duet", "replay"};
  constexpr std::array<std::string_view, 6> kOwn{"--plan",   "--shard",  "--out",
                                                 "--resume", "--append", "--gpus"};
  if (command.empty() || std::ranges::find(kCommands, command.front()) == kCommands.end()) {
    throw InputError("slurm submit", "",
                     "name what each task runs behind --: run, duet or replay, and its flags");
  }
  for (const std::string& word : command) {
    if (word == "--") return;  // what follows is the benchmark program's
    const std::string flag = word.substr(0, word.find('='));
    if (std::ranges::find(kOwn, flag) == kOwn.end()) continue;
    throw InputError("slurm submit", flag, "is set for each task; leave it out behind --");
  }
}

void submit_shards(const SubmitRequest& request, Console& console) {
  const auto lock = baselines::WriteLock::of_folder(request.folder, "--out");
  SlurmSweep sweep = sweep_of(request);
  const SlurmTasks tasks = tasks_of(sweep);
  if (!tasks.problem.empty()) {
    throw InputError(
        sweep.folder.string(), "",
        fmt::format("has jobs that may still run, and Slurm cannot be asked: {}", tasks.problem));
  }
  const std::vector<ShardState> states = states_of(sweep, tasks);
  const std::vector<int> shards = shards_to_submit(states);
  if (shards.empty()) {
    console.out.print("nothing to submit: {}\n", states_summary(states));
    return;
  }
  baselines::write_atomically(sweep.script(), job_script(sweep, request.options, request.fusegate));
  const std::string id = submit_array(sweep, shards, request.options);
  sweep.jobs.push_back({id, shards, format_instant(std::chrono::system_clock::now())});
  write_sweep(sweep);
  console.out.print("job {}: shard{} {} of {}\n", id, shards.size() == 1 ? "" : "s",
                    ranges_text(shards), states.size());
  console.out.print("follow it with: fusegate slurm status {}\n", request.folder.string());
}

}  // namespace fusegate::ci
