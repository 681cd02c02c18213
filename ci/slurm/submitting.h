// Submits what a sweep's shards lack.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/slurm/job_script.h"

namespace fusegate::ci {

struct SubmitRequest {
  std::filesystem::path plan{};
  std::filesystem::path folder{};
  std::vector<std::string> command{};  // run, duet or replay, with its flags
  JobOptions options{};
  std::filesystem::path fusegate{};  // the program that tasks start
};

// Shards that are finished, and those that wait or run, get no task. Prints what was submitted.
// Throws InputError where the folder is of another plan or command, where Slurm cannot be asked,
// and where it refuses the job; what was submitted and measured before stays as it is.
void submit_shards(const SubmitRequest& request, Console& console);

// What a task runs. Throws InputError for what is none of run, duet and replay, and for flags that
// each task has of its own.
void check_task_command(const std::vector<std::string>& command);

}  // namespace fusegate::ci
