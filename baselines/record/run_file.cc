#include "baselines/record/run_file.h"

#include <algorithm>
#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/record/run_context.h"
#include "baselines/record/run_file_parser.h"
#include "baselines/record/sample_collector.h"

namespace fusegate::baselines {
namespace {

// A name or an error message may hold bytes that are no UTF-8, which must not cost the file.
std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

RunFile parse_run_file(std::string text, const std::string& source) {
  SampleCollector collector(source);
  const nlohmann::json context = parse_run_text(
      std::move(text), source, [&collector](const RunFileEntry& entry) { collector.add(entry); });
  RunFile file = read_run_context(context, source);
  file.benchmarks = collector.results();
  return file;
}

RunFile read_run_file(const std::filesystem::path& path) {
  return parse_run_file(read_file(path), path.string());
}

RunFileWriter::RunFileWriter(std::filesystem::path path, nlohmann::json context,
                             const std::vector<nlohmann::json>& entries)
    : path_(std::move(path)), lock_(WriteLock::of_file(path_)), context_(std::move(context)) {
  nlohmann::json& fusegate = context_["fusegate"];
  fusegate["schema_version"] = kRunFileSchemaVersion;
  fusegate["finished"] = false;
  add(entries);
  // Now and not after the first benchmark: a full disk or a folder that cannot be written is best
  // told before minutes of measuring.
  write();
}

void RunFileWriter::append(const std::vector<nlohmann::json>& entries) {
  add(entries);
  write();
}

void RunFileWriter::add(const std::vector<nlohmann::json>& entries) {
  for (const nlohmann::json& entry : entries) {
    first_entry_.try_emplace(entry.value("name", ""), entries_.size());
    entries_.push_back(text_of(entry));
  }
}

void RunFileWriter::add_details(const std::map<std::string, nlohmann::json>& details) {
  for (const auto& [name, members] : details) {
    const auto found = first_entry_.find(name);
    if (found == first_entry_.end()) continue;
    std::string& text = entries_[found->second];
    nlohmann::json entry = nlohmann::json::parse(text);
    entry["details"].update(members);
    text = text_of(entry);
  }
  write();
}

void RunFileWriter::finish(const std::vector<Doubt>& doubts) {
  context_["fusegate"]["finished"] = true;
  add_doubts(doubts);
}

void RunFileWriter::add_doubts(const std::vector<Doubt>& doubts) {
  add_doubt_names(context_["fusegate"]["doubts"], doubts);
  write();
}

void RunFileWriter::write() const {
  std::string text = "{\n\"context\": ";
  text += text_of(context_);
  text += ",\n\"benchmarks\": [\n";
  for (const std::string& entry : entries_) {
    if (&entry != &entries_.front()) text += ",\n";
    text += entry;
  }
  text += "\n]\n}\n";
  write_atomically(path_, text);
}

}  // namespace fusegate::baselines
