#include "baselines/record/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "baselines/formats/broken_text.h"
#include "baselines/formats/read_foreign.h"
#include "baselines/formats/sample_range.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/run_context.h"
#include "baselines/record/run_file_parser.h"
#include "baselines/record/sample_collector.h"

namespace fusegate::baselines {
namespace {

// Replaces bytes that are not UTF-8, which names and error messages may have.
std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<double> cycles_of(const ForeignBenchmark& benchmark) {
  std::vector<double> cycles(benchmark.times_ns.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < benchmark.clocks_hz.size(); ++i) {
    cycles[i] = benchmark.times_ns[i] * 1e-9 * known_clock(benchmark.clocks_hz[i]);
  }
  return cycles;
}

std::size_t fingerprint_of(const RunFile& file) {
  std::string text = file.provenance.date + dumped(file.provenance.protocol);
  for (const BenchmarkResult& result : file.benchmarks) {
    text += fmt::format("\n{} {} {}", result.name, result.summary.time_ns, result.summary.spread);
  }
  return std::hash<std::string>{}(text);
}

}  // namespace

RunFile run_file_of(ForeignFile&& foreign) {
  RunFile file;
  file.environment = std::move(foreign.environment);
  file.provenance = {.commit = std::move(foreign.commit),
                     .dirty = foreign.dirty,
                     .toolchain = std::move(foreign.toolchain),
                     .date = std::move(foreign.date),
                     .host = std::move(foreign.host),
                     .device_uuid = {},
                     .suite = {},
                     .protocol = std::move(foreign.protocol)};
  file.skipped = std::move(foreign.skipped);
  if (file.provenance.protocol.value(kFigures, "") == kMean)
    file.warnings.push_back(Warning::kMeansOnly);
  if (foreign.lacks_clocks) file.warnings.push_back(Warning::kClockUnread);
  for (ForeignBenchmark& benchmark : foreign.benchmarks) {
    BenchmarkResult& result = file.benchmarks.emplace_back();
    if (!benchmark.failure.empty()) {
      benchmark.times_ns.clear();
      benchmark.clocks_hz.clear();
    }
    result.summary = summary_of(benchmark.times_ns, cycles_of(benchmark));
    result.name = std::move(benchmark.name);
    result.failure = std::move(benchmark.failure);
    result.counters = std::move(benchmark.counters);
  }
  file.fingerprint = fingerprint_of(file);
  return file;
}

RunFile parse_run_file(std::string text, const std::string& source) {
  if (auto foreign = read_foreign(text, source)) return run_file_of(std::move(*foreign));
  SampleCollector collector(source);
  const nlohmann::json context = parse_run_text(
      std::move(text), source, [&collector](const RunFileEntry& entry) { collector.add(entry); });
  RunFile file = read_run_context(context, source);
  collector.finish(context.is_object() && context.contains("fusegate"), file);
  file.fingerprint ^= std::hash<std::string>{}(dumped(context));
  for (BenchmarkResult& result : file.benchmarks) {
    result.is_control = is_control(file.controls, file.provenance, result.name);
  }
  return file;
}

// The file is read again only where it is not JSON: nearly all are.
RunFile read_run_text(std::string text, const std::filesystem::path& path) {
  try {
    return parse_run_file(std::move(text), path.string());
  } catch (const InputError&) {
    if (!std::filesystem::is_regular_file(path)) throw;  // a pipe is empty now
    text = read_file(path);
    if (!quote_nonfinite(text)) throw;
  }
  return parse_run_file(std::move(text), path.string());
}

RunFile read_run_file(const std::filesystem::path& path) {
  return read_run_text(read_file(path), path);
}

RunFileWriter::RunFileWriter(std::filesystem::path path, nlohmann::json context,
                             const std::vector<nlohmann::json>& entries)
    : path_(std::move(path)), lock_(WriteLock::of_file(path_)), context_(std::move(context)) {
  nlohmann::json& fusegate = context_["fusegate"];
  fusegate["schema_version"] = kRunFileSchemaVersion;
  fusegate["finished"] = false;
  add(entries);
  // Before minutes of measuring: the disk may be full, or the folder not writable.
  write();
}

void RunFileWriter::append(const std::vector<nlohmann::json>& entries) {
  add(entries);
  write();
}

void RunFileWriter::add(const std::vector<nlohmann::json>& entries) {
  for (const nlohmann::json& entry : entries) {
    first_entry_.try_emplace(entry.value("name", ""), entries_.size());
    entries_.push_back(dumped(entry));
  }
}

void RunFileWriter::add_details(const std::map<std::string, nlohmann::json>& details) {
  for (const auto& [name, members] : details) {
    const auto found = first_entry_.find(name);
    if (found == first_entry_.end()) continue;
    std::string& text = entries_[found->second];
    nlohmann::json entry = nlohmann::json::parse(text);
    entry["details"].update(members);
    text = dumped(entry);
  }
  write();
}

void RunFileWriter::finish(const std::vector<Warning>& warnings) {
  context_["fusegate"]["finished"] = true;
  add_warnings(warnings);
}

void RunFileWriter::add_warnings(const std::vector<Warning>& warnings) {
  add_warning_names(context_["fusegate"]["warnings"], warnings);
  write();
}

void RunFileWriter::write() const {
  std::string text = "{\n\"context\": ";
  text += dumped(context_);
  text += ",\n\"benchmarks\": [\n";
  for (const std::string& entry : entries_) {
    if (&entry != &entries_.front()) text += ",\n";
    text += entry;
  }
  text += "\n]\n}\n";
  write_atomically(path_, text);
}

}  // namespace fusegate::baselines
