// Streams the text of a run file, one benchmark entry at a time. A file of 10,000 benchmarks is
// tens of megabytes and would be ten times that as a tree of JSON values; here only the "context"
// object and each entry's "details" become trees.
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

// Whether fusegate's own programs write a counter of this name. Others may mean something else by
// it: Google Benchmark's "flops" is a rate as often as a count.
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
  // Of an iteration count, a time or a counter of fusegate's that is none: "real_time: must be a
  // number". The first in the entry.
  std::string odd_value;
  // Every numeric key that is not one of Google Benchmark's own or the invocation's number.
  std::vector<std::pair<std::string, double>> counters;
  nlohmann::json details;  // null where there are none

  std::string path() const;  // "benchmarks[3]", for messages
  // Back to empty, keeping memory: a large file has a million entries.
  void clear();
};

using EntryCallback = std::function<void(const RunFileEntry&)>;

// Returns "context", null where there is none. Throws InputError naming source, field and, where
// the text is no JSON, line and column.
nlohmann::json parse_run_text(std::string text, const std::string& source,
                              const EntryCallback& on_entry);

}  // namespace fusegate::baselines
