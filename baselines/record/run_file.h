// The run file: one invocation of a benchmark program, as Google Benchmark JSON
// (https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats), so that
// compare.py and every other reader of that format opens it. One "iteration" entry is one sample.
//
// What fusegate adds, all optional for a reader:
//   context.fusegate    schema_version, environment, provenance, protocol, seed, suite, invocation,
//                       doubts, controls (DeclaredControls), finished (false while the invocation
//                       is still running)
//   in an entry         invocation; counters such as sm_clock_hz, kernel_launches, flops,
//                       min_bytes, host_ns, host_graph_ns (of one call: launched on a stream, and
//                       as a CUDA graph); and, in a benchmark's first entry, details: {choices,
//                       doubts, energy_per_call_j (by a counter of the device's, at sustained
//                       load), energy_power_w (the mean power meanwhile, which nobody reads),
//                       notes (what preparing a stage took; never compared),
//                       stages: [{name, flops, min_bytes, kernels: [{name, blocks,
//                       threads_per_block, registers, static_shared_bytes, dynamic_shared_bytes,
//                       blocks_per_sm, occupancy}]}], profile (call_profile.h), expectation
//                       (baselines/launches/expectation.h), identity (call_identity.h)}; a
//                       stage's kernels are left out where the device tells nothing of them, the
//                       profile where nothing was profiled
// A plain Google Benchmark file has none of these and is read all the same; a numeric sm_clock_hz
// counter is used wherever it stands. A benchmark is known by its run_name, or by its name where it
// has none, suffixes such as "/repeats:60" and "/manual_time" included: Google Benchmark lets a
// program register BM_x and BM_x/real_time side by side. Aggregates are passed over, and a
// benchmark that has nothing else is named. An entry that failed becomes a failure, and so does one
// whose time is no time; what the program skipped is named with its reason. Counters of a plain
// file are not taken for ours, but for sm_clock_hz.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/invocation.h"

namespace fusegate::baselines {

// Throws InputError naming file and field: text that is no JSON or ends early, missing or mistyped
// names and indexes, a name that stands for two benchmarks. What other
// tools wrote (baselines/formats/read_foreign.h) is read, too.
RunFile read_run_file(const std::filesystem::path& path);
// The same of a file's text that is read already. A file with NaN and Infinity, as Google Benchmark
// and Python write them, is no JSON and is read all the same.
RunFile read_run_text(std::string text, const std::filesystem::path& path);
// The same for text that is in memory already; source stands in messages for the file.
RunFile parse_run_file(std::string text, const std::string& source);

// What another tool's file tells becomes what a run file tells.
RunFile run_file_of(ForeignFile&& foreign);

// Grows a run file one benchmark at a time; after every call the file on disk is whole and valid.
class RunFileWriter {
 public:
  // context: the file's "context" object, Google Benchmark's own keys and "fusegate". entries:
  // those that the file has already, where it is gone on with. It is written at once. Throws
  // InputError where it cannot be, as do the others, and where another process writes it.
  RunFileWriter(std::filesystem::path path, nlohmann::json context,
                const std::vector<nlohmann::json>& entries = {});

  // entries: every entry of one finished benchmark.
  void append(const std::vector<nlohmann::json>& entries);
  // What became known of a benchmark only after its entries were written: by its name, members
  // for the details of its first entry. Names without an entry are passed over.
  void add_details(const std::map<std::string, nlohmann::json>& details);
  // To those of the context, each once.
  void add_doubts(const std::vector<Doubt>& doubts);
  // Sets context.fusegate.finished and adds the doubts seen over the whole invocation.
  void finish(const std::vector<Doubt>& doubts);

 private:
  void add(const std::vector<nlohmann::json>& entries);
  void write() const;

  std::filesystem::path path_;
  WriteLock lock_;
  nlohmann::json context_;
  // Serialised once each, so that a rewrite costs a copy and not a dump.
  std::vector<std::string> entries_;
  std::map<std::string, std::size_t> first_entry_;  // by name
};

}  // namespace fusegate::baselines
