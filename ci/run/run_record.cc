#include "ci/run/run_record.h"

#include <algorithm>
#include <charconv>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"

namespace fusegate::ci {
namespace {

using nlohmann::json;

std::filesystem::path record_path(const std::filesystem::path& folder) {
  return folder / "run.json";
}

json invocation_json(const ProcessRecord& invocation) {
  json members{{"file", invocation.file},     {"exit_code", invocation.exit_code},
               {"signal", invocation.signal}, {"seconds", invocation.seconds},
               {"seed", invocation.seed},     {"failure", invocation.failure},
               {"block", invocation.block},   {"extension", invocation.extension},
               {"aa_arm", invocation.aa_arm}};
  if (invocation.odd) members["odd"] = *invocation.odd;
  return members;
}

ProcessRecord parse_invocation(const baselines::JsonField& field) {
  ProcessRecord invocation;
  invocation.file = field.at("file").text();
  invocation.exit_code = field.at("exit_code").integer();
  invocation.signal = field.at("signal").integer();
  invocation.seconds = field.at("seconds").number();
  invocation.seed = static_cast<std::uint64_t>(field.at("seed").integer());
  invocation.failure = field.at("failure").text();
  if (const auto block = field.find("block")) invocation.block = block->integer();
  if (const auto extension = field.find("extension")) invocation.extension = extension->boolean();
  invocation.aa_arm = field.text_or_empty("aa_arm");
  if (const auto odd = field.find("odd")) invocation.odd = odd->number();
  return invocation;
}

std::vector<std::string> parse_texts(const baselines::JsonField& field) {
  std::vector<std::string> texts;
  for (const baselines::JsonField& element : field.elements()) texts.push_back(element.text());
  return texts;
}

RunRecord parse_run_record(const baselines::JsonField& root) {
  RunRecord record;
  record.suite = root.at("suite").text();
  record.programs = parse_texts(root.at("programs"));
  record.program = root.at("program").text();
  record.flags = parse_texts(root.at("flags"));
  record.session = root.text_or_empty("session");
  record.identified = root.text_or_empty("identified");
  record.planned_processes = root.at("planned_processes").integer();
  for (const baselines::JsonField& element : root.at("invocations").elements()) {
    record.invocations.push_back(parse_invocation(element));
  }
  record.started = root.at("started").text();
  record.ended = root.at("ended").text();
  record.finished = root.at("finished").boolean();
  if (const auto aa = root.find("aa")) record.aa = parse_aa(*aa);
  return record;
}

}  // namespace

json run_record_json(const RunRecord& record) {
  json invocations = json::array();
  for (const ProcessRecord& invocation : record.invocations) {
    invocations.push_back(invocation_json(invocation));
  }
  return {{"schema_version", kRunRecordSchemaVersion},
          {"suite", record.suite},
          {"programs", record.programs},
          {"program", record.program},
          {"flags", record.flags},
          {"session", record.session},
          {"identified", record.identified},
          {"planned_processes", record.planned_processes},
          {"invocations", std::move(invocations)},
          {"started", record.started},
          {"ended", record.ended},
          {"finished", record.finished},
          {"aa", record.aa ? aa_json(*record.aa) : json(nullptr)}};
}

void write_run_record(const std::filesystem::path& folder, const RunRecord& record) {
  // A failure may quote a program's output, which need not be UTF-8.
  const auto replace = nlohmann::json::error_handler_t::replace;
  baselines::write_atomically(record_path(folder),
                              run_record_json(record).dump(2, ' ', false, replace) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& folder) {
  const std::filesystem::path path = record_path(folder);
  const json tree = baselines::parse_json(baselines::read_regular_file(path), path.string());
  const baselines::JsonField root(tree, path.string(), "");
  if (root.at("schema_version").integer() != kRunRecordSchemaVersion) {
    root.at("schema_version").fail("not one that this fusegate reads");
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
        "already holds invocations; name another, or let run --append add to them");
  }
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

}  // namespace fusegate::ci
