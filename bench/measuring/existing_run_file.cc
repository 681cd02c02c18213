#include "bench/measuring/existing_run_file.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "baselines/record/environment.h"
#include "baselines/record/run_context.h"

namespace fusegate::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Of context.fusegate. Of an object, all members but the gate's settings.
baselines::Environment facts_of(const json& fusegate, std::initializer_list<const char*> keys) {
  baselines::Environment facts;
  if (!fusegate.is_object()) return facts;
  for (const char* key : keys) {
    const auto found = fusegate.find(key);
    if (found == fusegate.end()) continue;
    if (!found->is_object()) {
      facts[key] = *found;
      continue;
    }
    for (const auto& [name, value] : found->items()) {
      if (!baselines::is_of_gate(name)) facts[fmt::format("{}.{}", key, name)] = value;
    }
  }
  return facts;
}

void require_equal(const fs::path& path, const baselines::Environment& theirs,
                   const baselines::Environment& ours, std::string_view advice) {
  const auto differences = baselines::environment_differences(theirs, ours);
  if (differences.empty()) return;
  const auto& [field, there, here] = differences.front();
  throw baselines::InputError(path.string(), "context.fusegate." + field,
                              fmt::format("is {} in the file and {} now; {}", there, here, advice));
}

json context_of(const json& file) {
  const json none = json::object();
  json context = file.is_object() ? file.value("context", none).value("fusegate", none) : none;
  baselines::use_current_names(context);
  return context;
}

json tree_or_null(const fs::path& path) try {
  return baselines::parse_json(baselines::read_file(path), path.string());
} catch (const baselines::InputError&) {
  return nullptr;
}

constexpr const char* kForce = "name another file, or replace it with --force";

}  // namespace

void require_same_measurement(const fs::path& path, const json& fusegate) {
  const auto keys = {"suite", "process", "protocol", "environment", "provenance"};
  const json file = baselines::parse_json(baselines::read_regular_file(path), path.string());
  require_equal(path, facts_of(context_of(file), keys), facts_of(fusegate, keys),
                "--resume completes only a file of the same measurement");
}

void require_replaceable(const fs::path& path, const json& fusegate,
                         const std::set<std::string>& benchmarks) {
  if (!fs::is_regular_file(path) || fs::file_size(path) == 0) return;
  const json file = tree_or_null(path);
  if (!file.is_object() || !file.contains("benchmarks")) {
    throw baselines::InputError(path.string(), "",
                                fmt::format("exists and is not a run file; {}", kForce));
  }
  const auto keys = {"suite", "protocol"};
  require_equal(path, facts_of(context_of(file), keys), facts_of(fusegate, keys), kForce);
  for (const baselines::JsonField& entry :
       baselines::JsonField(file, path.string(), "").at("benchmarks").elements()) {
    const std::string name = entry.text_or_empty("name");
    if (benchmarks.contains(name)) continue;
    entry.fail(fmt::format("{} is not measured now and would be lost; {}", name, kForce));
  }
}

}  // namespace fusegate::bench
