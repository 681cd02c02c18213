// What Slurm knows of a sweep's tasks, by squeue and sacct; and sbatch.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ci/slurm/job_script.h"
#include "ci/slurm/sweep_folder.h"

namespace fusegate::ci {

struct SlurmTask {
  std::string name{};   // "8_2"
  std::string state{};  // as Slurm calls it: "RUNNING"
  std::string node{};
  std::string reason{};  // why it waits
  int exit_code = 0;
  int signal = 0;

  bool has_ended() const;
  bool has_started() const;
};

struct SlurmTasks {
  std::map<int, SlurmTask> of_shards{};  // the last task of each shard that Slurm knows one of
  std::string problem{};                 // why Slurm could not be asked; empty where it was
};

// squeue names the tasks in the queue, and those of the last minutes; sacct older ones, where the
// cluster has accounting.
SlurmTasks tasks_of(const SlurmSweep& sweep);

// The lines of squeue and sacct, as tasks_of() asks for them. What cannot be read is left out.
std::map<std::string, SlurmTask> parse_squeue(std::string_view text);
std::map<std::string, SlurmTask> parse_sacct(std::string_view text);

// Starts a task for each of these shards, and returns the id of their array. Throws InputError
// naming the option that sbatch refuses.
std::string submit_array(const SlurmSweep& sweep, const std::vector<int>& shards,
                         const JobOptions& options);

}  // namespace fusegate::ci
