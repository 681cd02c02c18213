// A run folder: the run files 1.json, 2.json, ... of its processes, a log beside each, and
// run.json, fusegate's own record of what it started there and how that ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baselines/io/write_lock.h"
#include "ci/gate/aa_findings.h"

namespace fusegate::ci {

struct ProcessRecord {
  std::string file;   // the run file's name in the folder
  int exit_code = 0;  // meaningful where signal is 0
  int signal = 0;     // the one that ended it, 0 for none
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string failure{};  // what went wrong, for people; empty where nothing did
  // The round, counted from 1, in which the programs were measured side by side: what shares a
  // session and a block may be compared as a pair. 0 in records without it.
  int block = 0;
  // Measured after the minimum, and only the benchmarks that were undecided or suspicious.
  bool extension = false;
  // Of an outlier: its time over the inliers', minus one (outlier_processes.h).
  std::optional<double> relative_deviation{};
  // "a" or "b" where the program stood in for both halves of an A/A comparison, else empty.
  std::string aa_half{};
  int shard = 0;  // of a merged run: that it was measured in; else 0
};

// The shard of a plan (ci/shards/plan.h) that a run measured.
struct ShardRecord {
  std::string plan{};  // a hash of it
  int number = 0;      // from 1
  int of = 0;          // how many there are
  std::vector<std::string> benchmarks{};
  std::vector<std::string> controls{};  // that every shard has

  bool operator==(const ShardRecord&) const = default;
};

struct RunRecord {
  std::string suite;
  std::vector<std::string> programs;  // all that were interleaved, this folder's own among them
  std::string program;                // the one that was measured here
  std::vector<std::string> flags;     // what it was given besides fusegate's own
  // The same in the folders of all programs that one command measured together. Empty where the
  // folder holds processes of several commands, whose blocks mean different things.
  std::string session;
  // What identities.json answers (identification_question()); "" where no program was asked.
  std::string identified{};
  // A hash of program, suite and flags, as identification_question() makes it: what --resume goes
  // on with. "" of a program that is no one file, of a merged run, and in older records.
  std::string program_hash{};
  int planned_processes = 0;
  std::vector<ProcessRecord> processes;
  std::string started;           // ISO 8601
  std::string ended;             // of the last process so far
  bool finished = false;         // false while it runs, and for good where it was interrupted
  std::optional<AaFindings> aa;  // of the run's A/A comparison, where it had one
  // Benchmarks that were not measured, or not in all processes, by name, with the reason.
  std::map<std::string, std::string> left_out{};
  std::optional<ShardRecord> shard{};  // none: all of the suite
  // The process at work; in a folder that nobody writes into, the one at work when its fusegate was
  // killed. How it ended is not in it.
  std::optional<ProcessRecord> measuring{};
};

nlohmann::json run_record_json(const RunRecord& record);
// Replaces folder/run.json. Throws InputError where it cannot be written.
void write_run_record(const std::filesystem::path& folder, const RunRecord& record);
// folder/run.json. Reads the fields of older records by their names ("invocations", "odd"), and
// takes records without sessions and blocks. Throws InputError naming file and field.
RunRecord read_run_record(const std::filesystem::path& folder);

// Throws InputError (field: the option that names it) for what is not a folder and, unless it may
// be added to, for a folder that holds processes.
void check_run_folder(const std::filesystem::path& folder, const std::string& option, bool append);
// Checks it once it is locked, too: another run may have ended in between.
baselines::WriteLock lock_run_folder(const std::filesystem::path& folder, const std::string& option,
                                     bool append);

// The largest i for which the folder holds an i.json or i.log; 0 where it has none or is missing.
int last_process_in(const std::filesystem::path& folder);

// "1 process", "6 processes"
std::string process_count(int count);

}  // namespace fusegate::ci
