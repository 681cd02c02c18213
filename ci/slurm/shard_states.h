// How far each shard of a sweep is, by its folder and by Slurm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ci/console/table.h"
#include "ci/slurm/sweep_folder.h"
#include "ci/slurm/tasks.h"

namespace fusegate::ci {

enum class ShardStage {
  kFinished,
  kRunning,
  kPending,
  kFailed,   // its task ended before it finished, or a process was cut off
  kStopped,  // Slurm has forgotten its task, if it had one, and it did not finish
};

struct ShardState {
  int shard = 0;  // from 1
  ShardStage stage = ShardStage::kStopped;
  ShardProgress progress{};
  std::optional<SlurmTask> task{};

  // Whether a task would measure more of it, and none is about to.
  bool wants_task() const { return stage == ShardStage::kFailed || stage == ShardStage::kStopped; }
  // "running on n3", "failed with exit code 2"
  std::string text() const;
};

// By shard. Throws as progress_of().
std::vector<ShardState> states_of(const SlurmSweep& sweep, const SlurmTasks& tasks);

Table states_table(const std::vector<ShardState>& states);
// "2 of 4 shards finished, 1 running, 1 failed; 17 processes measured"
std::string states_summary(const std::vector<ShardState>& states);

}  // namespace fusegate::ci
