// From measurements to the run file: the context once, then every benchmark's entries as it ends.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "baselines/run_file.h"
#include "bench/environment_probe.h"
#include "bench/protocol.h"
#include "bench/session.h"

namespace fusegate {

// What the invocation is called and was asked to do.
struct InvocationInfo {
  std::string suite;  // empty where no suite named it
  int number = 1;
  std::uint64_t seed = 0;
  Protocol protocol;
};

// context.fusegate, beside Google Benchmark's own context.
nlohmann::json fusegate_context(const InvocationInfo& info, const EnvironmentProbe& probe);

// One sample as Google Benchmark counts it.
struct SampleEntry {
  int index = 0;
  std::int64_t iterations = 0;
  double real_time_ns = 0;  // per iteration
  double cpu_time_ns = 0;
  std::map<std::string, double> counters;
};

// The entries of one benchmark, in Google Benchmark's layout.
std::vector<nlohmann::json> benchmark_entries(const std::string& name, int family, int invocation,
                                              const std::vector<SampleEntry>& samples,
                                              const BenchmarkRecord& record);

// One line for the program that started us: "@fusegate {...}".
std::string progress_line(const std::string& name, int index, int total,
                          const std::vector<SampleEntry>& samples, const BenchmarkRecord& record);

}  // namespace fusegate
