// The A/A comparisons of a machine so far: one file a device and suite, one JSON object a line; and
// what adds one to them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/console/console.h"
#include "ci/gate/aa_findings.h"
#include "ci/gate/judging.h"

namespace fusegate::ci {

// .fusegate/aa/<device slug>/<suite slug>.jsonl under root.
std::filesystem::path aa_history_path(const std::filesystem::path& root,
                                      const baselines::Environment& environment,
                                      const std::string& suite);

// A comparison a line: {"when" (ISO 8601), "device_uuid" and "device" (the card, empty where
// unknown), "suite", "commit", "benchmarks" (compared), "false_alarms" (of these, called a
// regression or an improvement), "processes_a_side"}. Empty where there is no such file. Throws
// InputError naming file, line and field.
std::vector<nlohmann::json> read_aa_history(const std::filesystem::path& path);

// Rewrites the file with one more line, and returns all entries. A reader never sees half of one.
std::vector<nlohmann::json> append_to_aa_history(const std::filesystem::path& path,
                                                 nlohmann::json entry);

struct AaRecordingRequest {
  std::vector<std::filesystem::path> a;  // run folders or run files
  std::vector<std::filesystem::path> b;
  JudgingRequest judging;                        // the rule that the gate goes by
  std::optional<std::filesystem::path> history;  // nothing: under the git checkout, by device
};

// Before anything is measured: throws InputError where a history that was named cannot be read.
void check_aa_history(const std::optional<std::filesystem::path>& history);

// Compares the two sides and adds the comparison to the history. Nothing where they cannot be
// compared or the history cannot be written, and console.err says why: the measurement itself is
// none the worse for it.
std::optional<AaFindings> record_aa(const AaRecordingRequest& request, Console& console);

}  // namespace fusegate::ci
