// The run file: one invocation of a benchmark program, as Google Benchmark JSON
// (https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats), so that
// compare.py and every other reader of that format opens it. One "iteration" entry is one sample.
//
// What fusegate adds, all optional for a reader:
//   context.fusegate    schema_version, environment, provenance, protocol, seed, suite, invocation,
//                       doubts, finished (false while the invocation is still running)
//   in an entry         invocation; counters such as sm_clock_hz, kernel_launches, flops,
//                       min_bytes, host_ns, host_graph_ns (of one call: launched on a stream, and
//                       as a CUDA graph); and, in a benchmark's first entry, details: {choices,
//                       doubts, notes (what preparing a stage took; never compared),
//                       stages: [{name, flops, min_bytes, kernels: [{name, blocks,
//                       threads_per_block, registers, static_shared_bytes, dynamic_shared_bytes,
//                       blocks_per_sm, occupancy}]}], profile (call_profile.h), expectation
//                       (baselines/launches/expectation.h)}; a stage's kernels are left out where
//                       the device tells nothing of them, the profile where nothing was profiled
// A plain Google Benchmark file has none of these and is read all the same; a numeric sm_clock_hz
// counter is used wherever it stands. A benchmark is known by its run_name, or by its name where it
// has none, suffixes such as "/repeats:60" and "/manual_time" included: Google Benchmark lets a
// program register BM_x and BM_x/real_time side by side. Aggregates are passed over. An entry that
// failed or was skipped becomes a failure.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/expectation.h"
#include "baselines/launches/kernel_profile.h"
#include "baselines/launches/stage_times.h"
#include "baselines/record/doubt.h"
#include "baselines/record/environment.h"
#include "baselines/statistics/clock_fit.h"

namespace fusegate::baselines {

inline constexpr int kRunFileSchemaVersion = 1;

// Where a run came from; none of it must match between two runs.
struct Provenance {
  std::string commit;  // empty where unknown
  bool dirty = false;
  std::string date;  // ISO 8601, as Google Benchmark writes it
  std::string host;
  std::string device_uuid;
  std::string suite;        // empty for a run that no suite named
  nlohmann::json protocol;  // as the benchmark program recorded it; null for plain files
};

// One benchmark in one invocation: what its samples come to.
struct InvocationSummary {
  // Each the mean of the samples' fast half (statistics.h), per call.
  double time_ns = 0;  // NaN where there is no sample
  double cycles = 0;   // time x SM clock; NaN where any sample has no clock
  double spread = 0;   // median absolute deviation of time over its median
  int samples = 0;
  // Of a run in which several arms were measured side by side: which round this was, counted from
  // 1. Values of one block are close in time and compared with each other. 0: no block.
  int block = 0;
  // Measured afresh after the rest, because the benchmark was undecided or looked slower.
  bool extension = false;
  ClockFit clock_fit{};
};

struct BenchmarkResult {
  std::string name;
  InvocationSummary summary;
  std::string failure;                         // not empty: it threw, or its results were wrong
  std::map<std::string, double> counters;      // medians over samples
  std::map<std::string, std::string> choices;  // what the library picked, such as an algorithm
  std::vector<Doubt> doubts;
  std::optional<KernelProfile> profile{};         // of one call
  std::optional<StageTimes> stage_times{};        // where a call was profiled
  std::optional<TraceExpectation> expectation{};  // where one is declared and a call was profiled
};

struct RunFile {
  Environment environment;
  Provenance provenance;
  std::vector<Doubt> doubts;
  std::vector<BenchmarkResult> benchmarks;  // in file order, names unique
};

// Throws InputError naming file and field: text that is no JSON or ends early, missing or mistyped
// fields, times that are not finite and positive, a name that stands for two benchmarks.
RunFile read_run_file(const std::filesystem::path& path);
// The same for text that is in memory already; source stands in messages for the file.
RunFile parse_run_file(std::string text, const std::string& source);

// Grows a run file one benchmark at a time; after every call the file on disk is whole and valid.
class RunFileWriter {
 public:
  // context: the file's "context" object, Google Benchmark's own keys and "fusegate". The file is
  // written at once, without any benchmark. Throws InputError where it cannot be, as do the others.
  RunFileWriter(std::filesystem::path path, nlohmann::json context);

  // entries: every entry of one finished benchmark.
  void append(const std::vector<nlohmann::json>& entries);
  // What became known of a benchmark only after its entries were written: by its name, members
  // for the details of its first entry. Names without an entry are passed over.
  void add_details(const std::map<std::string, nlohmann::json>& details);
  // Sets context.fusegate.finished and adds the doubts seen over the whole invocation.
  void finish(const std::vector<Doubt>& doubts);

 private:
  void write() const;

  std::filesystem::path path_;
  nlohmann::json context_;
  // Serialised once each, so that a rewrite costs a copy and not a dump.
  std::vector<std::string> entries_;
  std::map<std::string, std::size_t> first_entry_;  // by name
};

}  // namespace fusegate::baselines
