#include "ci/run_record.h"

#include <algorithm>
#include <charconv>

#include "baselines/error.h"
#include "baselines/file_io.h"

namespace fusegate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InvocationRecord, file, exit_code, signal, seconds, seed,
                                   failure)

namespace {

std::filesystem::path record_path(const std::filesystem::path& folder) {
  return folder / "run.json";
}

RunRecord parse_run_record(const nlohmann::json& json) {
  RunRecord record;
  json.at("suite").get_to(record.suite);
  json.at("programs").get_to(record.programs);
  json.at("program").get_to(record.program);
  json.at("flags").get_to(record.flags);
  json.at("planned_invocations").get_to(record.planned_invocations);
  json.at("invocations").get_to(record.invocations);
  json.at("started").get_to(record.started);
  json.at("ended").get_to(record.ended);
  json.at("finished").get_to(record.finished);
  return record;
}

}  // namespace

nlohmann::json run_record_json(const RunRecord& record) {
  return {{"schema_version", kRunRecordSchemaVersion},
          {"suite", record.suite},
          {"programs", record.programs},
          {"program", record.program},
          {"flags", record.flags},
          {"planned_invocations", record.planned_invocations},
          {"invocations", record.invocations},
          {"started", record.started},
          {"ended", record.ended},
          {"finished", record.finished}};
}

void write_run_record(const std::filesystem::path& folder, const RunRecord& record) {
  // A failure may quote a program's output, which need not be UTF-8.
  const auto replace = nlohmann::json::error_handler_t::replace;
  write_atomically(record_path(folder),
                   run_record_json(record).dump(2, ' ', false, replace) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& folder) {
  const std::filesystem::path path = record_path(folder);
  const auto json = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) throw InputError(path.string(), "", "not a JSON object");
  const auto version = json.find("schema_version");
  if (version == json.end() || *version != kRunRecordSchemaVersion) {
    throw InputError(path.string(), "schema_version", "not one that this fusegate reads");
  }
  try {
    return parse_run_record(json);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string(), "", error.what());
  }
}

int last_invocation_in(const std::filesystem::path& folder) {
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

}  // namespace fusegate
