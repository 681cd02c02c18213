// The run file: one process of a benchmark program, as Google Benchmark JSON
// (https://github.com/google/benchmark/blob/main/docs/user_guide.md#output-formats), so that
// compare.py and every other reader of that format opens it. One "iteration" entry is one sample.
//
// What fusegate adds, all optional for a reader:
//   context.fusegate    schema_version, environment, provenance, protocol, seed, suite, process
//                       (its number in the run; "invocation" before), process_id and
//                       process_start_ns (of the operating system), warnings, controls
//                       (DeclaredControls), compared_with (ComparedWith), finished (false while the
//                       process still runs)
//   in an entry         process; counters such as sm_clock_hz, kernel_launches, flops,
//                       min_bytes, host_ns, host_graph_ns (of one call: launched on a stream, and
//                       as a CUDA graph); and, in a benchmark's first entry, details: {choices,
//                       warnings, energy_per_call_j (from the device's counter, at sustained load),
//                       energy_power_w (the mean power meanwhile, for people), elapsed_s (the
//                       process's time for the benchmark), notes (on preparing a stage; never
//                       compared),
//                       stages: [{name, flops, min_bytes, kernels: [{name, blocks,
//                       threads_per_block, registers, static_shared_bytes, dynamic_shared_bytes,
//                       blocks_per_sm, occupancy}]}], profile (call_profile.h), expectation
//                       (baselines/launches/expectation.h), identity (call_identity.h)}; a
//                       stage has no kernels where the device does not report them, and there is
//                       no profile where nothing was profiled
// A plain Google Benchmark file has none of these and is read too, with a numeric sm_clock_hz
// counter if it has one; its other counters are not taken for ours. A benchmark's name is its
// run_name, else its name, with suffixes such as "/repeats:60" and "/manual_time": Google Benchmark
// lets a program register BM_x and BM_x/real_time side by side. Aggregates are ignored; a benchmark
// with nothing else is left out, with the reason. An entry that failed or has a bad time becomes a
// failure; what the program skipped keeps its reason.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/process.h"

namespace fusegate::baselines {

// Throws InputError naming file and field: text that is not JSON or ends early, missing or mistyped
// names and indexes, a name of two benchmarks. Reads other tools' files too
// (baselines/formats/read_foreign.h).
RunFile read_run_file(const std::filesystem::path& path);
// text: of the file at path. NaN and Infinity, which Google Benchmark and Python write although
// JSON has neither, are read too.
RunFile read_run_text(std::string text, const std::filesystem::path& path);
// source: the file's name in messages.
RunFile parse_run_file(std::string text, const std::string& source);

// Converts another tool's file.
RunFile run_file_of(ForeignFile&& foreign);

// Writes a run file step by step; after every call the file on disk is whole and valid.
class RunFileWriter {
 public:
  // context: the file's "context" object, Google Benchmark's keys and "fusegate". entries: those of
  // a resumed file. Writes at once. Throws InputError where it cannot write, as do the others, and
  // where another process writes the file.
  RunFileWriter(std::filesystem::path path, nlohmann::json context,
                const std::vector<nlohmann::json>& entries = {});

  // entries: every entry of one finished benchmark.
  void append(const std::vector<nlohmann::json>& entries);
  // Members for the details of the first entries of benchmarks, by name; ignores names without
  // entries.
  void add_details(const std::map<std::string, nlohmann::json>& details);
  // Adds to the context's warnings, each once.
  void add_warnings(const std::vector<Warning>& warnings);
  // Sets context.fusegate.finished and adds the process's warnings.
  void finish(const std::vector<Warning>& warnings);

 private:
  void add(const std::vector<nlohmann::json>& entries);
  void write() const;

  std::filesystem::path path_;
  WriteLock lock_;
  nlohmann::json context_;
  // Serialised, so that a rewrite only copies them.
  std::vector<std::string> entries_;
  std::map<std::string, std::size_t> first_entry_;  // by name
};

}  // namespace fusegate::baselines
