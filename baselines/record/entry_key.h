// What the keys of a run file's entry mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

enum class EntryKey {
  kName,
  kRunName,
  kRunType,
  kTimeUnit,
  kMessage,
  kFamilyIndex,
  kInstanceIndex,
  kRepetitionIndex,
  kIterations,
  kRealTime,
  kFailed,
  kSkipped,
  kDetails,
  kIgnored,  // Google Benchmark's own keys that say nothing here, and the invocation's number
  kOther,    // a counter, where it holds a number
};

EntryKey entry_key(std::string_view name);

// Looks keys up with a guess: the n-th key of an entry is nearly always the n-th of the one before.
class EntryKeyOrder {
 public:
  EntryKey find(std::size_t position, std::string_view name);

 private:
  struct Known {
    std::string name;
    EntryKey key = EntryKey::kOther;
  };
  std::vector<Known> known_;
};

}  // namespace fusegate::baselines
