// A run folder's own record, run.json, written by `fusegate run` and `duet`: which processes were
// measured side by side with those of another folder, and which were added because a benchmark was
// undecided.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace fusegate::baselines {

struct ProcessPosition {
  int block = 0;           // counted from 1 over the session; 0 where none is recorded
  bool extension = false;  // measured after the minimum
  int shard = 0;           // of a plan, from 1: it measured no other's benchmarks; 0 without one
};

struct RunBlocks {
  std::string suite;     // empty where none is recorded
  std::string session;   // the same in all folders that were measured together; empty likewise
  int shard = 0;         // of all processes that say nothing else
  bool finished = true;  // false while the run is measured, and after it ended early
  std::map<std::string, ProcessPosition> by_file;  // by the run file's name in the folder
  // Benchmarks that the run did not measure, or not in all processes, by name, with the reason.
  std::map<std::string, std::string> left_out{};
  // What A/A comparisons showed, as ci/gate/aa_findings.h writes it, and the record's path.
  std::optional<std::pair<std::string, nlohmann::json>> aa{};
};

// Empty where the folder has no run.json. Throws InputError naming file and field.
RunBlocks read_run_blocks(const std::filesystem::path& folder);

}  // namespace fusegate::baselines
