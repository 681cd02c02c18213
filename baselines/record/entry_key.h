// The meaning of the keys of a run file's entry.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baselines/record/run_file_entry.h"

namespace fusegate::baselines {

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
