// Turns measurements into the run file's JSON: the context once, then the entries of every place.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/doubt.h"
#include "bench/machine/environment_probe.h"
#include "bench/measuring/session.h"
#include "bench/plan/protocol.h"

namespace fusegate::bench {

// What the invocation is called and was asked to do.
struct InvocationInfo {
  std::string suite;  // empty where no suite named it
  int number = 1;
  std::uint64_t seed = 0;
  Protocol protocol;
  std::vector<std::string> controls{};  // names of benchmarks
};

// Where the numbers come from: suite, seed, commit, environment, machine and doubts.
nlohmann::json origin_json(const InvocationInfo& info, const EnvironmentProbe& probe);
// context.fusegate, beside Google Benchmark's own context.
nlohmann::json fusegate_context(const InvocationInfo& info, const EnvironmentProbe& probe);

// What a sample's entry says besides its times, by Google Benchmark's word for it. Numbers alone.
std::map<std::string, double> counters(const BenchmarkRecord& record, const Sample& sample);

// What all entries of one benchmark have in common.
struct EntryHead {
  std::string name;
  int family = 0;
  int invocation = 1;
  int repetitions = 1;
};

// The entries of one place in Google Benchmark's layout. first_index: samples before this place.
// The benchmark's first entry carries its details; a later place's first entry says only what
// raised doubts there.
std::vector<nlohmann::json> place_entries(const EntryHead& head, int first_index,
                                          const PlaceRecord& place, const BenchmarkRecord& record);

// index: samples before the failure.
nlohmann::json failed_entry(const EntryHead& head, int index, const std::string& failure);

}  // namespace fusegate::bench
