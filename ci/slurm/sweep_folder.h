// The folder of a sweep on a Slurm cluster, which all its nodes see:
//
//   plan.json      the plan of its shards
//   slurm.json     what each task runs, and the jobs that were submitted
//   job.sh         the job script
//   shard-K        what shard K's task measured: a run folder, or a duet's
//   shard-K.log    what it printed
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ci/shards/plan.h"

namespace fusegate::ci {

struct SlurmJob {
  std::string id{};  // of its array
  std::vector<int> shards{};
  std::string submitted{};  // ISO 8601
};

struct SlurmSweep {
  std::filesystem::path folder{};  // absolute
  ShardPlan plan{};
  std::vector<std::string> command{};  // run, duet or replay, with its flags
  std::filesystem::path from{};        // the folder that the command starts in
  std::vector<SlurmJob> jobs{};        // the last one submitted comes last

  std::filesystem::path plan_file() const { return folder / "plan.json"; }
  std::filesystem::path script() const { return folder / "job.sh"; }
  std::filesystem::path run_of(int shard) const;
  std::filesystem::path log_of(int shard) const;
};

// Throws InputError naming file and field, also where nothing was submitted from the folder.
SlurmSweep read_sweep(const std::filesystem::path& folder);
bool has_sweep(const std::filesystem::path& folder);
// plan.json and slurm.json.
void write_sweep(const SlurmSweep& sweep);

// By what lies in the folder.
struct ShardProgress {
  bool finished = false;
  int measured = 0;  // whole processes, of all programs
  int planned = 0;   // 0: nothing has started
  int failed = 0;    // processes that were cut off
};
// Throws InputError where the folder holds another shard.
ShardProgress progress_of(const SlurmSweep& sweep, int shard);

}  // namespace fusegate::ci
