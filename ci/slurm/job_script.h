// The script that Slurm starts once a shard.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ci/slurm/sweep_folder.h"

namespace fusegate::ci {

// As sbatch takes them; an empty one is left to the cluster.
struct JobOptions {
  std::string partition{};
  std::string account{};
  std::string time{};
  std::vector<std::string> others{};  // "--gres=gpu:1"
};

// A task that was preempted, or whose node died, is put back into the queue and goes on where it
// stopped. Throws InputError for options that cannot stand in a script.
std::string job_script(const SlurmSweep& sweep, const JobOptions& options,
                       const std::filesystem::path& fusegate);

// "1-3,7", of numbers in order.
std::string ranges_text(const std::vector<int>& numbers);

}  // namespace fusegate::ci
