// The shard that a command is asked to measure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/processes/run_record.h"

namespace fusegate::ci {

struct AskedShard {
  std::optional<std::filesystem::path> plan{};  // none: the whole suite
  int number = 0;                               // from 1
};

// Nothing where no plan is named. Sets the suite, where it is empty, to the plan's. Throws
// InputError for a plan of another suite, and where it has no such shard.
std::optional<ShardRecord> read_shard(const AskedShard& asked, std::string& suite);

// "" of a run folder; "base", "base_again" and "head" of a duet's, as far as they are there.
std::vector<std::string> programs_in(const std::filesystem::path& folder);

// "--benchmark_filter=...": of its benchmarks and controls. Throws InputError where that is too
// long for an argument.
std::string filter_of(const ShardRecord& shard);

}  // namespace fusegate::ci
