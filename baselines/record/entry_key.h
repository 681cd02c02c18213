// An entry of a run file, and the meaning of its keys.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

struct TextKey {
  std::string RunFileEntry::*member;
};
struct IndexKey {
  std::optional<double> RunFileEntry::*member;
};
// A bad value costs the benchmark and not the file.
struct MeasureKey {
  std::optional<double> RunFileEntry::*member;
};
struct FlagKey {
  bool RunFileEntry::*member;
};
struct DetailsKey {};
struct IgnoredKey {};  // Google Benchmark's keys that are not used, and the process's number
struct CounterKey {};  // any other key, where it holds a number

using EntryKey =
    std::variant<CounterKey, TextKey, IndexKey, MeasureKey, FlagKey, DetailsKey, IgnoredKey>;

EntryKey entry_key(std::string_view name);

// Looks keys up with a guess: the n-th key of an entry is nearly always that of the entry before.
class EntryKeyOrder {
 public:
  EntryKey find(std::size_t position, std::string_view name);

 private:
  struct Known {
    std::string name;
    EntryKey key;
  };
  std::vector<Known> known_;
};

}  // namespace fusegate::baselines
