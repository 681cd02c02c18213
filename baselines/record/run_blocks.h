// What a run folder's own record (run.json, written by `fusegate run` and `duet`) says of how its
// invocations were measured: which of them stood side by side with those of another folder, and
// which were added because a benchmark was undecided.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace fusegate::baselines {

struct InvocationPlace {
  int block = 0;           // counted from 1 over the session; 0 where none is recorded
  bool extension = false;  // measured after the minimum
};

struct RunBlocks {
  std::string session;   // the same in all folders that were measured together; empty where none is
  bool finished = true;  // false while it is measured, and for good where that was ended early
  std::map<std::string, InvocationPlace> by_file;  // by the run file's name in the folder
};

// Nothing recorded where the folder has no run.json. Throws InputError naming file and field.
RunBlocks read_run_blocks(const std::filesystem::path& folder);

}  // namespace fusegate::baselines
