#include "baselines/record/entry_key.h"

#include <unordered_map>

namespace fusegate::baselines {

EntryKey entry_key(std::string_view name) {
  static const std::unordered_map<std::string_view, EntryKey> kKeys{
      {"name", TextKey{&RunFileEntry::name}},
      {"run_name", TextKey{&RunFileEntry::run_name}},
      {"run_type", TextKey{&RunFileEntry::run_type}},
      {"time_unit", TextKey{&RunFileEntry::time_unit}},
      {"error_message", TextKey{&RunFileEntry::error_message}},
      {"skip_message", TextKey{&RunFileEntry::error_message}},
      {"family_index", IndexKey{&RunFileEntry::family_index}},
      {"per_family_instance_index", IndexKey{&RunFileEntry::per_family_instance_index}},
      {"repetition_index", IndexKey{&RunFileEntry::repetition_index}},
      {"iterations", MeasureKey{&RunFileEntry::iterations}},
      {"real_time", MeasureKey{&RunFileEntry::real_time}},
      {"error_occurred", FlagKey{&RunFileEntry::failed}},
      {"skipped", FlagKey{&RunFileEntry::skipped}},
      {"details", DetailsKey{}},
      {"process", IgnoredKey{}},
      {"invocation", IgnoredKey{}},  // the name of "process" before
      {"repetitions", IgnoredKey{}},
      {"threads", IgnoredKey{}},
      {"cpu_time", IgnoredKey{}},
      {"cpu_coefficient", IgnoredKey{}},
      {"real_coefficient", IgnoredKey{}},
      {"rms", IgnoredKey{}},
  };
  const auto found = kKeys.find(name);
  return found == kKeys.end() ? CounterKey{} : found->second;
}

EntryKey EntryKeyOrder::find(std::size_t position, std::string_view name) {
  if (position >= known_.size()) known_.resize(position + 1);
  Known& guess = known_[position];
  if (guess.name != name) guess = {std::string(name), entry_key(name)};
  return guess.key;
}

}  // namespace fusegate::baselines
