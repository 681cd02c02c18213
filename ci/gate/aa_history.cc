#include "ci/gate/aa_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

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

json entry_json(const AaEntry& entry) {
  return {{"when", entry.when},
          {"device_uuid", entry.device_uuid},
          {"device", entry.device},
          {"suite", entry.suite},
          {"commit", entry.commit},
          {"benchmarks", entry.benchmarks},
          {"false_alarms", entry.false_alarms},
          {"processes_a_side", entry.processes_a_side}};
}

int count_at(const baselines::JsonField& field, std::string_view key) {
  const baselines::JsonField count = field.at(key);
  if (count.integer() < 0) count.fail("must not be negative");
  return count.integer();
}

AaEntry parse_entry(const baselines::JsonField& field) {
  AaEntry entry;
  entry.when = field.at("when").text();
  entry.device_uuid = field.text_or_empty("device_uuid");
  entry.device = field.text_or_empty("device");
  entry.suite = field.text_or_empty("suite");
  entry.commit = field.text_or_empty("commit");
  entry.benchmarks = count_at(field, "benchmarks");
  entry.false_alarms = count_at(field, "false_alarms");
  // As it was named before.
  const bool is_older = !field.find("processes_a_side");
  entry.processes_a_side = count_at(field, is_older ? "invocations_a_side" : "processes_a_side");
  return entry;
}

std::string text_of(const std::vector<AaEntry>& entries) {
  std::string text;
  for (const AaEntry& entry : entries) {
    text += entry_json(entry).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace

fs::path aa_history_path(const fs::path& root, const baselines::Environment& environment,
                         const std::string& suite) {
  return baselines::baseline_path(root / ".fusegate" / "aa", environment, suite)
      .replace_extension(".jsonl");
}

std::vector<AaEntry> read_aa_history(const fs::path& path) {
  std::vector<AaEntry> entries;
  if (!fs::exists(path)) return entries;
  const std::string text = baselines::read_file(path);
  int line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string source = fmt::format("{}: line {}", path.string(), ++line_number);
    const json tree =
        baselines::parse_json(std::string_view(text).substr(begin, end - begin), source);
    entries.push_back(parse_entry(baselines::JsonField(tree, source, "")));
    begin = end + 1;
  }
  return entries;
}

std::vector<AaEntry> append_to_aa_history(const fs::path& path, const AaEntry& entry) {
  // Two jobs may end at once.
  const auto lock = baselines::WriteLock::of_file(path, std::chrono::seconds(10));
  std::vector<AaEntry> entries = read_aa_history(path);
  entries.push_back(entry);
  baselines::write_atomically(path, text_of(entries));
  return entries;
}

namespace {

AaEntry entry_of(const AaFindings& findings, const baselines::Run& run) {
  AaEntry entry;
  entry.when = format_instant(std::chrono::system_clock::now());
  entry.device_uuid = run.provenance.device_uuid;
  const auto device = run.environment.find("device");
  if (device != run.environment.end() && device->second.is_string()) {
    entry.device = device->second.get<std::string>();
  }
  entry.suite = run.provenance.suite;
  entry.commit = run.provenance.commit;
  entry.benchmarks = findings.benchmarks;
  entry.false_alarms = static_cast<int>(findings.called.size());
  entry.processes_a_side = findings.processes_a_side;
  return entry;
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
  const std::vector<AaEntry> all = append_to_aa_history(history, entry_of(findings, a));
  findings.comparisons = static_cast<int>(all.size());
  findings.comparisons_with_alarm = static_cast<int>(
      std::ranges::count_if(all, [](const AaEntry& entry) { return entry.false_alarms > 0; }));
  return findings;
}

}  // namespace

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
