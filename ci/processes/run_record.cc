#include "ci/processes/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;

json process_json(const ProcessRecord& process) {
  json members{
      {"file", process.file},       {"exit_code", process.exit_code}, {"signal", process.signal},
      {"seconds", process.seconds}, {"seed", process.seed},           {"failure", process.failure},
      {"block", process.block},     {"extension", process.extension}, {"aa_half", process.aa_half}};
  if (process.relative_deviation) members["relative_deviation"] = *process.relative_deviation;
  if (process.shard > 0) members["shard"] = process.shard;
  return members;
}

// A field by the name that is written, or by the one that was written before.
std::optional<baselines::JsonField> find(const baselines::JsonField& field, const char* name,
                                         const char* former) {
  auto found = field.find(name);
  return found ? found : field.find(former);
}

baselines::JsonField at(const baselines::JsonField& field, const char* name, const char* former) {
  const auto found = find(field, name, former);
  return found ? *found : field.at(name);
}

ProcessRecord parse_process(const baselines::JsonField& field) {
  ProcessRecord process;
  process.file = field.at("file").text();
  process.exit_code = field.at("exit_code").integer();
  process.signal = field.at("signal").integer();
  process.seconds = field.at("seconds").number();
  process.seed = static_cast<std::uint64_t>(field.at("seed").integer());
  process.failure = field.at("failure").text();
  if (const auto block = field.find("block")) process.block = block->integer();
  if (const auto extension = field.find("extension")) process.extension = extension->boolean();
  if (const auto half = find(field, "aa_half", "aa_arm")) process.aa_half = half->text();
  if (const auto deviation = find(field, "relative_deviation", "odd")) {
    process.relative_deviation = deviation->number();
  }
  if (const auto shard = field.find("shard")) process.shard = shard->integer();
  return process;
}

std::vector<std::string> parse_texts(const baselines::JsonField& field) {
  std::vector<std::string> texts;
  for (const baselines::JsonField& element : field.elements()) texts.push_back(element.text());
  return texts;
}

json shard_json(const ShardRecord& shard) {
  return {{"plan", shard.plan},
          {"number", shard.number},
          {"of", shard.of},
          {"benchmarks", shard.benchmarks},
          {"controls", shard.controls}};
}

ShardRecord parse_shard(const baselines::JsonField& field) {
  ShardRecord shard{.plan = field.at("plan").text(),
                    .number = field.at("number").integer(),
                    .of = field.at("of").integer(),
                    .benchmarks = parse_texts(field.at("benchmarks")),
                    .controls = parse_texts(field.at("controls"))};
  if (shard.of < 1) field.at("of").fail("must be 1 or more");
  if (shard.number < 1 || shard.number > shard.of) {
    field.at("number").fail(fmt::format("must be from 1 to {}", shard.of));
  }
  return shard;
}

RunRecord parse_run_record(const baselines::JsonField& root) {
  RunRecord record;
  record.suite = root.at("suite").text();
  record.programs = parse_texts(root.at("programs"));
  record.program = root.at("program").text();
  record.flags = parse_texts(root.at("flags"));
  record.session = root.text_or_empty("session");
  record.identified = root.text_or_empty("identified");
  record.program_hash = root.text_or_empty("program_hash");
  record.planned_processes = at(root, "planned_processes", "planned_invocations").integer();
  for (const baselines::JsonField& element : at(root, "processes", "invocations").elements()) {
    record.processes.push_back(parse_process(element));
  }
  record.started = root.at("started").text();
  record.ended = root.at("ended").text();
  record.finished = root.at("finished").boolean();
  if (const auto aa = root.find("aa")) record.aa = parse_aa(*aa);
  if (const auto left_out = root.find("left_out")) {
    for (const auto& [name, why] : left_out->members()) record.left_out[name] = why.text();
  }
  if (const auto shard = root.find("shard")) record.shard = parse_shard(*shard);
  if (const auto measuring = root.find("measuring")) record.measuring = parse_process(*measuring);
  return record;
}

}  // namespace

json run_record_json(const RunRecord& record) {
  json processes = json::array();
  for (const ProcessRecord& process : record.processes) {
    processes.push_back(process_json(process));
  }
  return {{"schema_version", kSchemaVersion},
          {"suite", record.suite},
          {"programs", record.programs},
          {"program", record.program},
          {"flags", record.flags},
          {"session", record.session},
          {"identified", record.identified},
          {"program_hash", record.program_hash},
          {"planned_processes", record.planned_processes},
          {"processes", std::move(processes)},
          {"started", record.started},
          {"ended", record.ended},
          {"finished", record.finished},
          {"aa", record.aa ? aa_json(*record.aa) : json(nullptr)},
          {"left_out", record.left_out},
          {"shard", record.shard ? shard_json(*record.shard) : json(nullptr)},
          {"measuring", record.measuring ? process_json(*record.measuring) : json(nullptr)}};
}

void write_run_record(const std::filesystem::path& folder, const RunRecord& record) {
  // A failure may quote a program's output, which need not be UTF-8.
  const auto replace = nlohmann::json::error_handler_t::replace;
  baselines::write_atomically(folder / "run.json",
                              run_record_json(record).dump(2, ' ', false, replace) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "run.json";
  const json tree = baselines::parse_json(baselines::read_regular_file(path), path.string());
  const baselines::JsonField root(tree, path.string(), "");
  if (root.at("schema_version").integer() != kSchemaVersion) {
    root.at("schema_version").fail("not a version that this fusegate reads; expected 1");
  }
  return parse_run_record(root);
}

void check_run_folder(const std::filesystem::path& folder, const std::string& option, bool append) {
  if (std::filesystem::exists(folder) && !std::filesystem::is_directory(folder)) {
    throw baselines::InputError(folder.string(), option, "not a folder");
  }
  if (!append && last_process_in(folder) > 0) {
    throw baselines::InputError(
        folder.string(), option,
        "the folder already has processes; name another, go on with --resume, or add to them with "
        "run --append");
  }
}

baselines::WriteLock lock_run_folder(const std::filesystem::path& folder, const std::string& option,
                                     bool append) {
  check_run_folder(folder, option, append);
  baselines::WriteLock lock = baselines::WriteLock::of_folder(folder, option);
  check_run_folder(folder, option, append);
  return lock;
}

int last_process_in(const std::filesystem::path& folder) {
  int last = 0;
  if (!std::filesystem::is_directory(folder)) return last;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (extension != ".json" && extension != ".log") continue;
    const std::string stem = entry.path().stem();
    int number = 0;
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
    if (error == std::errc() && end == stem.data() + stem.size()) last = std::max(last, number);
  }
  return last;
}

std::string process_count(int count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

}  // namespace fusegate::ci
