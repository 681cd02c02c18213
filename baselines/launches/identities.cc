#include "baselines/launches/identities.h"

#include <fmt/format.h>

#include "baselines/io/file_io.h"
#include "baselines/io/file_mark.h"
#include "baselines/io/json_field.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;

constexpr const char* kMark = "fusegate_identities";

}  // namespace

void write_identities(const std::filesystem::path& path, const Identities& identities) {
  json benchmarks = json::object();
  for (const auto& [name, identity] : identities.benchmarks) {
    benchmarks[name] = identity_json(identity);
  }
  const json file{{kMark, kIdentitiesSchemaVersion},     {"fusegate", identities.context},
                  {"benchmarks", std::move(benchmarks)}, {"choices", identities.choices},
                  {"counters", identities.counters},     {"failures", identities.failures},
                  {"load_s", identities.load_s}};
  write_atomically(path, file.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

Identities read_identities(const std::filesystem::path& path) {
  return parse_identities(read_regular_file(path), path.string());
}

bool is_identities_text(std::string_view text) { return has_mark(text, kMark); }

Identities parse_identities(std::string_view text, const std::string& source) {
  const json file = parse_json(text, source);
  const JsonField root(file, source, "");
  if (const JsonField version = root.at(kMark); version.integer() > kIdentitiesSchemaVersion) {
    version.fail(fmt::format("version {} is newer than this fusegate reads ({}); update fusegate",
                             version.integer(), kIdentitiesSchemaVersion));
  }
  Identities identities{.context = root.at("fusegate").value()};
  if (const auto counters = root.find("counters")) {
    for (const auto& [name, values] : counters->members()) {
      for (const auto& [counter, value] : values.members()) {
        identities.counters[name][counter] = value.number_from_zero();
      }
    }
  }
  if (const auto load_s = root.find("load_s")) identities.load_s = load_s->number_from_zero();
  for (const auto& [name, identity] : root.at("benchmarks").members()) {
    identities.benchmarks.emplace(name, parse_identity(identity));
  }
  for (const auto& [name, choices] : root.at("choices").members()) {
    for (const auto& [stage, choice] : choices.members()) {
      identities.choices[name][stage] = choice.text();
    }
  }
  for (const auto& [name, failure] : root.at("failures").members()) {
    identities.failures.emplace(name, failure.text());
  }
  return identities;
}

}  // namespace fusegate::baselines
