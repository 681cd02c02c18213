#include "ci/slurm/collecting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "baselines/io/error.h"
#include "ci/console/format.h"
#include "ci/shards/merging.h"
#include "ci/slurm/shard_states.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;

void warn_of(const SlurmTasks& tasks, Console& console) {
  if (tasks.problem.empty()) return;
  console.err.print("warning: {}; states are those of the folder\n", tasks.problem);
}

// "shard 2: failed with exit code 2 (sweep/shard-2.log)"
std::string state_text(const SlurmSweep& sweep, const ShardState& state) {
  const fs::path log = sweep.log_of(state.shard);
  const bool has_log = state.wants_task() && fs::exists(log);
  return fmt::format("shard {}: {}{}", state.shard, state.text(),
                     has_log ? fmt::format(" ({})", log.string()) : "");
}

std::string advice(const std::vector<ShardState>& states, const fs::path& folder) {
  if (std::ranges::any_of(states, &ShardState::wants_task)) {
    return "the same fusegate slurm submit measures the rest";
  }
  const bool all_finished = std::ranges::all_of(
      states, [](const ShardState& state) { return state.stage == ShardStage::kFinished; });
  return all_finished
             ? fmt::format("merge them: fusegate slurm collect {} --out RUN", folder.string())
             : "";
}

}  // namespace

bool print_status(const fs::path& folder, Console& console) {
  const SlurmSweep sweep = read_sweep(folder);
  const SlurmTasks tasks = tasks_of(sweep);
  warn_of(tasks, console);
  const std::vector<ShardState> states = states_of(sweep, tasks);
  console.out.lines(states_table(states).text(kAnyWidth, console.out.style()));
  console.out.print("\n{}\n", states_summary(states));
  for (const ShardState& state : states) {
    if (state.wants_task()) console.out.print("{}\n", state_text(sweep, state));
  }
  const std::string next = advice(states, folder);
  if (!next.empty()) console.out.print("{}\n", next);
  return std::ranges::none_of(states, &ShardState::wants_task);
}

void collect_shards(const fs::path& folder, const fs::path& out, Console& console) {
  const SlurmSweep sweep = read_sweep(folder);
  const SlurmTasks tasks = tasks_of(sweep);
  warn_of(tasks, console);
  std::vector<fs::path> runs;
  std::vector<std::string> lacks;
  bool any_wants_task = false;
  for (const ShardState& state : states_of(sweep, tasks)) {
    runs.push_back(sweep.run_of(state.shard));
    if (state.progress.finished) {
      if (state.progress.failed > 0) {
        console.err.print("warning: {}\n", state_text(sweep, state));
      }
      continue;
    }
    lacks.push_back(state_text(sweep, state));
    any_wants_task = any_wants_task || state.wants_task();
  }
  if (!lacks.empty()) {
    throw InputError(folder.string(), "",
                     fmt::format("{}; {}", fmt::join(lacks, ", "),
                                 any_wants_task ? "the same fusegate slurm submit measures the rest"
                                                : "collect once they have finished"));
  }
  for (const MergedRun& run : merge_shards(runs, out)) {
    console.out.print("{}\n", merged_text(run));
  }
}

}  // namespace fusegate::ci
