#include "ci/gate/aa_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void check_entry(const baselines::JsonField& entry) {
  entry.at("when").text();
  // As it was named before.
  const std::string_view processes =
      entry.find("processes_a_side") ? "processes_a_side" : "invocations_a_side";
  for (const std::string_view key :
       {std::string_view("benchmarks"), std::string_view("false_alarms"), processes}) {
    const baselines::JsonField count = entry.at(key);
    if (count.integer() < 0) count.fail("must not be negative");
  }
}

json entry_of(const AaFindings& findings, const baselines::Run& run) {
  const auto device = run.environment.find("device");
  const bool has_device = device != run.environment.end() && device->second.is_string();
  return {{"when", format_instant(std::chrono::system_clock::now())},
          {"device_uuid", run.provenance.device_uuid},
          {"device", has_device ? device->second : json("")},
          {"suite", run.provenance.suite},
          {"commit", run.provenance.commit},
          {"benchmarks", findings.benchmarks},
          {"false_alarms", findings.called.size()},
          {"processes_a_side", findings.processes_a_side}};
}

AaFindings compare_and_remember(const AaRecordingRequest& request) {
  if (request.a.empty() || request.b.empty())
    throw baselines::InputError("A/A", "", "a side has no run file; measure again with --aa");
  baselines::Run a = baselines::load_run(request.a);
  baselines::name_controls(request.judging.controls, a);
  const baselines::Run b = baselines::load_run(request.b);
  AaFindings findings = compare_aa(a, b, gate_options(request.judging, a, true).rule);
  // Counted as "no alarm", a comparison that could raise none would flatter the gate.
  if (findings.benchmarks == 0) {
    throw baselines::InputError(
        "A/A", "", "no benchmark has two processes on each side; measure at least four");
  }
  const fs::path history = request.history ? *request.history
                                           : aa_history_path(checkout_root(fs::current_path()),
                                                             a.environment, a.provenance.suite);
  const std::vector<json> all = append_to_aa_history(history, entry_of(findings, a));
  findings.comparisons = static_cast<int>(all.size());
  findings.comparisons_with_alarm = static_cast<int>(
      std::ranges::count_if(all, [](const json& entry) { return entry["false_alarms"] > 0; }));
  return findings;
}

}  // namespace

fs::path aa_history_path(const fs::path& root, const baselines::Environment& environment,
                         const std::string& suite) {
  return baselines::baseline_path(root / ".fusegate" / "aa", environment, suite)
      .replace_extension(".jsonl");
}

std::vector<json> read_aa_history(const fs::path& path) {
  std::vector<json> entries;
  if (!fs::exists(path)) return entries;
  std::istringstream lines(baselines::read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const std::string source = fmt::format("{}: line {}", path.string(), entries.size() + 1);
    entries.push_back(baselines::parse_json(line, source));
    check_entry(baselines::JsonField(entries.back(), source, ""));
  }
  return entries;
}

std::vector<json> append_to_aa_history(const fs::path& path, json entry) {
  // Two jobs may end at once.
  const auto lock = baselines::WriteLock::of_file(path, std::chrono::seconds(10));
  std::vector<json> entries = read_aa_history(path);
  entries.push_back(std::move(entry));
  std::string text;
  for (const json& one : entries) {
    text += one.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  baselines::write_atomically(path, text);
  return entries;
}

void check_aa_history(const std::optional<fs::path>& history) {
  if (history) read_aa_history(*history);
}

std::optional<AaFindings> record_aa(const AaRecordingRequest& request, Console& console) {
  try {
    return compare_and_remember(request);
  } catch (const baselines::InputError& error) {
    console.err.print("fusegate: the A/A comparison is not recorded: {}\n", error.what());
    return std::nullopt;
  }
}

}  // namespace fusegate::ci
