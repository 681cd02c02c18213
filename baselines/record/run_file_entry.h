// An entry of a run file.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fusegate::baselines {

// One element of "benchmarks". Strings are empty and numbers absent where the file has none.
struct RunFileEntry {
  std::size_t index = 0;  // in "benchmarks"
  std::string name;
  std::string run_name;
  std::string run_type;
  std::string time_unit;
  std::string error_message;
  std::optional<double> family_index;
  std::optional<double> per_family_instance_index;
  std::optional<double> repetition_index;
  std::optional<double> iterations;
  std::optional<double> real_time;
  bool failed = false;   // error_occurred
  bool skipped = false;  // by the program itself
  // The first iteration count, time or counter of fusegate's that cannot be used: "real_time: must
  // be a number".
  std::string bad_value;
  // Every numeric key but Google Benchmark's own and the process's number.
  std::vector<std::pair<std::string, double>> counters;
  nlohmann::json details;  // null where there are none

  std::string path() const;  // "benchmarks[3]", for messages
  // Keeps the memory: a large file has a million entries.
  void clear();
};

}  // namespace fusegate::baselines
