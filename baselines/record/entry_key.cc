#include "baselines/record/entry_key.h"

#include <unordered_map>

namespace fusegate::baselines {

EntryKey entry_key(std::string_view name) {
  static const std::unordered_map<std::string_view, EntryKey> kKeys{
      {"name", EntryKey::kName},
      {"run_name", EntryKey::kRunName},
      {"run_type", EntryKey::kRunType},
      {"time_unit", EntryKey::kTimeUnit},
      {"error_message", EntryKey::kMessage},
      {"skip_message", EntryKey::kMessage},
      {"family_index", EntryKey::kFamilyIndex},
      {"per_family_instance_index", EntryKey::kInstanceIndex},
      {"repetition_index", EntryKey::kRepetitionIndex},
      {"iterations", EntryKey::kIterations},
      {"real_time", EntryKey::kRealTime},
      {"error_occurred", EntryKey::kFailed},
      {"skipped", EntryKey::kSkipped},
      {"details", EntryKey::kDetails},
      {"invocation", EntryKey::kIgnored},
      {"repetitions", EntryKey::kIgnored},
      {"threads", EntryKey::kIgnored},
      {"cpu_time", EntryKey::kIgnored},
      {"cpu_coefficient", EntryKey::kIgnored},
      {"real_coefficient", EntryKey::kIgnored},
      {"rms", EntryKey::kIgnored},
  };
  const auto found = kKeys.find(name);
  return found == kKeys.end() ? EntryKey::kOther : found->second;
}

EntryKey EntryKeyOrder::find(std::size_t position, std::string_view name) {
  if (position >= known_.size()) known_.resize(position + 1);
  Known& guess = known_[position];
  if (guess.name != name) guess = {std::string(name), entry_key(name)};
  return guess.key;
}

}  // namespace fusegate::baselines
