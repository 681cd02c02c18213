// What one process measured, as its run file has it (run_file.h).
#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/settings.h"
#include "baselines/launches/call_identity.h"
#include "baselines/launches/expectation.h"
#include "baselines/launches/kernel_profile.h"
#include "baselines/launches/stage_times.h"
#include "baselines/record/environment.h"
#include "baselines/record/model.h"
#include "baselines/record/warning.h"
#include "baselines/statistics/clock_fit.h"

namespace fusegate::baselines {

inline constexpr int kRunFileSchemaVersion = 1;
// In the details of a benchmark's first entry; read as a counter.
inline constexpr const char* kEnergyPerCall = "energy_per_call_j";
// Likewise: the seconds of the process that went into the benchmark, from its check to its profile.
inline constexpr const char* kElapsed = "elapsed_s";
// Counters of an entry, and lists beside a stored benchmark's times: the host's time for a call,
// launched on a stream and as one graph.
inline constexpr const char* kHostNs = "host_ns";
inline constexpr const char* kHostGraphNs = "host_graph_ns";

// Where a run came from. Two runs may differ in it.
struct Provenance {
  std::string commit;  // empty where unknown
  bool dirty = false;
  std::string toolchain{};  // what built it, one line; empty in older files
  std::string fusegate{};   // the library's version; empty in older files
  std::string date;         // ISO 8601, as Google Benchmark writes it
  // Of several machines all names and models, "a, b". The model is empty in older files.
  std::string host;
  std::string cpu{};
  std::string device_uuid;
  std::string suite;        // empty without a suite
  nlohmann::json protocol;  // as the benchmark program recorded it; null for plain files
  // The other keys of a plain file's context. Differences are shown.
  Environment context{};
  Settings settings{};          // of the suite, by pattern
  std::vector<Model> models{};  // of a run; a stored baseline has none
};

// One benchmark in one process: the summary of its samples.
struct ProcessSummary {
  // Each the mean of the samples' fast half (statistics.h), per call.
  double time_ns = 0;  // NaN where there is no sample
  double cycles = 0;   // time x SM clock; NaN where any sample has no clock
  double spread = 0;   // median absolute deviation of the times over their median
  int samples = 0;
  // Where several runs are measured side by side: the round, counted from 1. Processes of one block
  // are close in time and compared with each other. 0: no block.
  int block = 0;
  int card = 0;     // index into Run::cards
  int process = 0;  // index into Run::process_names
  // Measured again later, because the benchmark was undecided or seemed slower.
  bool extension = false;
  ClockFit clock_fit{};
  // Of one call, on a stream and as one graph; NaN where not measured.
  double host_ns = std::numeric_limits<double>::quiet_NaN();
  double host_graph_ns = std::numeric_limits<double>::quiet_NaN();
};

// Names of the controls: benchmarks of the driver's or a library's code, which no change touches,
// so that a difference between two runs is the machine's. From "controls" of the file. Nothing in
// older files and in other programs' files, whose controls only --control names.
using DeclaredControls = std::optional<std::set<std::string, std::less<>>>;

// What reports compare implementations with, names by "operation" and by
// "operation/implementation". The first that a run has is what an operation's others are compared
// with; those of an implementation stand in for it where that one stops paying. Empty in older
// files.
using ComparedWith = std::map<std::string, std::vector<std::string>>;

// Of operations over several ranks, by operation, what reports read their times beside.
struct AcrossRanks {
  std::string work;                    // the operation of which each rank computes a part
  std::vector<std::string> divided{};  // its axes, which a part has divided by the number of ranks
  std::vector<std::string> exchanges{};  // the operations that are the exchange alone
};
using OperationsAcrossRanks = std::map<std::string, AcrossRanks>;

struct BenchmarkResult {
  std::string name;
  ProcessSummary summary;
  std::string failure;                         // why it failed; empty if it did not
  std::map<std::string, double> counters;      // medians over samples
  std::map<std::string, std::string> choices;  // by stage, such as an algorithm of cuBLAS
  std::vector<Warning> warnings;
  std::optional<KernelProfile> profile{};         // of one call
  std::optional<StageTimes> stage_times{};        // where a call was profiled
  std::optional<TraceExpectation> expectation{};  // where one is declared and a call was profiled
  std::optional<CallIdentity> identity{};         // where the file has one
  bool is_control = false;                        // see DeclaredControls
};

struct RunFile {
  bool finished = true;  // false where the process ended early or still runs
  Environment environment;
  Provenance provenance;
  std::vector<Warning> warnings;
  std::vector<BenchmarkResult> benchmarks;       // in file order, names unique
  std::map<std::string, std::string> skipped{};  // by the program, with its reason
  // Benchmarks without samples, or without all of them, and why.
  std::map<std::string, std::string> left_out{};
  DeclaredControls controls{};  // by which benchmarks were marked
  ComparedWith compared_with{};
  OperationsAcrossRanks across_ranks{};
  // Of copies the same: a hash of context and samples, and the OS process that wrote the file
  // (host, id, start; empty in older files and in those of other tools).
  std::size_t fingerprint = 0;
  std::string process_id{};
};

}  // namespace fusegate::baselines
