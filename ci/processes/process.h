// One fresh process of the benchmark program: started, followed, and judged by how it ended and by
// the run file that it left.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/identities.h"
#include "ci/processes/child_process.h"
#include "ci/processes/google_benchmark.h"
#include "ci/processes/progress.h"
#include "ci/processes/run_record.h"

namespace fusegate::ci {

// The failure of a process that Ctrl-C or its like ended.
inline constexpr std::string_view kInterruptedFailure = "interrupted";

struct ProcessRequest {
  std::string program;
  std::string suite;
  std::filesystem::path folder;  // gets NUMBER.json and NUMBER.log
  int number = 1;
  std::uint64_t seed = 0;
  std::vector<std::string> flags;  // passed on as they are
  // Of a program that takes no flag of fusegate's. It measures by the flags alone.
  std::optional<GoogleBenchmark> google_benchmark{};
  std::string script{};  // its first argument, where the program is an interpreter; else empty
  std::map<std::string, std::string> environment{};  // as ChildProcess's
  double timeout_s = 0;                              // 0: none
  const Interrupts* interrupts = nullptr;
};

struct ProcessOutcome {
  ProcessRecord record;
  // The program cannot run at all, or refuses its flags: no other process would fare better.
  bool hopeless = false;
  bool interrupted = false;
  bool died = false;  // before it finished, or every benchmark failed; nobody interrupted it
  std::map<std::string, std::string> failed_benchmarks;  // name to what went wrong
  bool only_benchmarks_failed = false;                   // which is the record's failure
};

// Starts it before its turn, to load beside others. It leaves nothing in the folder until
// run_process() follows it. Throws as StartedChild.
StartedChild start_process(const ProcessRequest& request);

// Of a process that has not run yet: its run file and seed.
ProcessRecord record_of(const ProcessRequest& request);

// Throws InputError where the log cannot be written; the outcome says how the program fared.
// on_idle: as ChildProcess's.
// started: what start_process() made of the request; null: the process is started here.
ProcessOutcome run_process(const ProcessRequest& request,
                           const std::function<void(const ProgressEvent&)>& on_event,
                           const std::function<void()>& on_idle = {},
                           StartedChild* started = nullptr);

// Whether the process came to its end, also where it ended with failed benchmarks. By the record
// where that says so, else by the run file.
bool is_whole(const ProcessRecord& process, const std::filesystem::path& folder);

// The same process with how it ended, if it came to its end though its fusegate was killed before
// it recorded that: by the run file. measuring: RunRecord's.
std::optional<ProcessRecord> ended_unrecorded(const ProcessRecord& measuring,
                                              const std::filesystem::path& folder);

// What a program will launch, before it measures anything.
struct IdentificationOutcome {
  std::optional<baselines::Identities> identities;
  std::string failure;    // why there are none, or of some benchmarks
  bool knows_how = true;  // false for older programs
  bool interrupted = false;
};

// Starts what run_identification() then follows, as start_process() does.
StartedChild start_identification(const ProcessRequest& request);

// Leaves identities.json and identities.log in the folder. Ignores the request's number.
// Throws as run_process() does. One that was started and has no answer is asked anew: what starts
// it may not pass on the turn that it waits for.
IdentificationOutcome run_identification(const ProcessRequest& request,
                                         const std::function<void()>& on_idle = {},
                                         StartedChild* started = nullptr);

// A hash of all that the answer depends on and a run folder does not keep: the program's file, the
// suite's, and the flags. "" where the program cannot be read.
std::string identification_question(const ProcessRequest& request);

}  // namespace fusegate::ci
