// Streams the text of a run file, one entry at a time. A file of 10,000 benchmarks has tens of
// megabytes, and ten times that as a tree of JSON values; here only "context" and each entry's
// "details" become trees.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusegate::baselines {

inline constexpr std::string_view kClockCounter = "sm_clock_hz";

// Whether fusegate's programs write a counter of this name. In other programs it may mean something
// else: "flops" is often a rate.
bool is_own_counter(std::string_view name);

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

using EntryCallback = std::function<void(const RunFileEntry&)>;

// Returns "context", null where there is none. Throws InputError naming source, field and, where
// the text is no JSON, line and column.
nlohmann::json parse_run_text(std::string text, const std::string& source,
                              const EntryCallback& on_entry);

}  // namespace fusegate::baselines
