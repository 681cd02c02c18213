#include "ci/gate/aa_history.h"

#include <fmt/format.h>

#include <chrono>

#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/baseline.h"

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
          {"invocations_a_side", entry.invocations_a_side}};
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
  entry.invocations_a_side = count_at(field, "invocations_a_side");
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

}  // namespace fusegate::ci
