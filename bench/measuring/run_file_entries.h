// Turns measurements into the run file's JSON: the context, then the entries of every layout.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/process.h"
#include "baselines/record/warning.h"
#include "bench/machine/environment_probe.h"
#include "bench/measuring/session.h"
#include "bench/plan/protocol.h"

namespace fusegate::bench {

// What a process was asked to do.
struct ProcessInfo {
  std::string suite;  // empty without a suite
  int number = 1;     // in its run
  std::uint64_t seed = 0;
  Protocol protocol;
  std::vector<std::string> controls{};  // names of benchmarks
  baselines::ComparedWith compared_with{};
  baselines::OperationsAcrossRanks across_ranks{};
  baselines::Settings settings{};
  std::vector<baselines::Model> models{};
};

// Where the numbers come from: suite, seed, commit, environment, machine and warnings.
nlohmann::json origin_json(const ProcessInfo& info, const EnvironmentProbe& probe);
// context.fusegate, beside Google Benchmark's own context.
nlohmann::json fusegate_context(const ProcessInfo& info, const EnvironmentProbe& probe);

// A sample's counters, as Google Benchmark calls numbers beside the times.
std::map<std::string, double> counters(const BenchmarkRecord& record, const Sample& sample);

// What all entries of one benchmark have in common.
struct EntryHead {
  std::string name;
  int family = 0;
  int process = 1;
  int repetitions = 1;
};

// The entries of one memory layout, as Google Benchmark writes them. first_index: samples before
// this layout. A benchmark's first entry has its details; a later layout's first entry only the
// warnings.
std::vector<nlohmann::json> layout_entries(const EntryHead& head, int first_index,
                                           const LayoutRecord& layout,
                                           const BenchmarkRecord& record);

// index: samples before the failure.
nlohmann::json failed_entry(const EntryHead& head, int index, const std::string& failure);

}  // namespace fusegate::bench
