// A run folder: the run files 1.json, 2.json, ... of its invocations, a log beside each, and
// run.json, fusegate's own record of what it started there and how that ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fusegate {

inline constexpr int kRunRecordSchemaVersion = 1;

struct InvocationRecord {
  std::string file;   // the run file's name in the folder
  int exit_code = 0;  // meaningful where signal is 0
  int signal = 0;     // the one that ended it, 0 for none
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string failure;  // what went wrong, for people; empty where nothing did
};

struct RunRecord {
  std::string suite;
  std::vector<std::string> programs;  // all that were interleaved, this folder's own among them
  std::string program;                // the one that was measured here
  std::vector<std::string> flags;     // what it was given besides fusegate's own
  int planned_invocations = 0;
  std::vector<InvocationRecord> invocations;
  std::string started;    // ISO 8601
  std::string ended;      // of the last invocation so far
  bool finished = false;  // false while it runs, and for good where it was interrupted
};

nlohmann::json run_record_json(const RunRecord& record);
// Replaces folder/run.json. Throws InputError where it cannot be written.
void write_run_record(const std::filesystem::path& folder, const RunRecord& record);
// folder/run.json. Throws InputError naming file and field.
RunRecord read_run_record(const std::filesystem::path& folder);

// The largest i for which the folder holds an i.json or i.log; 0 where it has none or is missing.
int last_invocation_in(const std::filesystem::path& folder);

}  // namespace fusegate
