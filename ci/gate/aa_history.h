// The A/A comparisons of a machine so far: one file a device and suite, one JSON object a line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::ci {

struct AaEntry {
  std::string when;         // ISO 8601
  std::string device_uuid;  // the card; empty where unknown
  std::string device;
  std::string suite;
  std::string commit;
  int benchmarks = 0;    // compared
  int false_alarms = 0;  // of these, called a regression or an improvement
  int invocations_a_side = 0;
};

// .fusegate/aa/<device slug>/<suite slug>.jsonl under root.
std::filesystem::path aa_history_path(const std::filesystem::path& root,
                                      const baselines::Environment& environment,
                                      const std::string& suite);

// Empty where there is no such file. Throws InputError naming file, line and field.
std::vector<AaEntry> read_aa_history(const std::filesystem::path& path);

// Rewrites the file with one more line, and returns all entries. Of two commands that append at the
// same moment one may lose its line; a reader never sees half of one.
std::vector<AaEntry> append_to_aa_history(const std::filesystem::path& path, const AaEntry& entry);

}  // namespace fusegate::ci
