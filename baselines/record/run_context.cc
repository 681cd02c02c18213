#include "baselines/record/run_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {
namespace {

// environment.h's names. A plain Google Benchmark program gives them as custom context
// (--benchmark_context=device=...).
constexpr std::array<std::string_view, 11> kPlainEnvironmentKeys{
    "device", "driver", "cuda", "cublas",  "power_limit_w", "max_sm_clock_mhz",
    "ecc",    "mig",    "isa",  "threads", "onednn"};

// These differ from process to process.
constexpr std::array<std::string_view, 6> kProcessKeys{
    "date", "host_name", "executable", "load_avg", "json_schema_version", "fusegate"};

// The operations that were controls before files declared them.
constexpr std::array<std::string_view, 2> kFormerControls{"control_copy", "control_gemm"};

// Other tools' files have no protocol, or one with the tool's name.
bool is_of_fusegate(const Provenance& provenance) {
  const nlohmann::json& protocol = provenance.protocol;
  return protocol.is_object() && !protocol.empty() && !protocol.contains(kTool);
}

Environment plain_environment(const JsonField& context) {
  Environment environment;
  for (const std::string_view key : kPlainEnvironmentKeys) {
    const auto field = context.find(key);
    if (field && field->value().is_primitive()) environment.emplace(key, field->value());
  }
  return environment;
}

// "L1 Data 32768 x2, L3 Unified 33554432 x8": level, type, bytes, threads that share it.
std::string caches_text(const nlohmann::json& caches) {
  if (!caches.is_array()) return caches.dump();
  std::string text;
  for (const nlohmann::json& cache : caches) {
    const auto part = [&cache](const char* key) {
      const auto found = cache.is_object() ? cache.find(key) : cache.end();
      if (!cache.is_object() || found == cache.end()) return std::string("?");
      return found->is_string() ? found->get<std::string>() : found->dump();
    };
    text += fmt::format("{}L{} {} {} x{}", text.empty() ? "" : ", ", part("level"), part("type"),
                        part("size"), part("num_sharing"));
  }
  return text;
}

// Google Benchmark's facts about the machine and its library, and the program's custom context.
void read_google_context(const JsonField& context, RunFile& file) {
  for (const auto& [key, field] : context.members()) {
    const nlohmann::json& value = field.value();
    if (is_of_google_benchmark(key)) {
      if (key == "caches" && !value.empty()) file.environment[key] = caches_text(value);
      if (value.is_primitive() && !value.is_null()) file.environment[key] = value;
    } else if (std::ranges::find(kProcessKeys, key) == kProcessKeys.end() &&
               !file.environment.contains(key) && !value.is_null()) {
      file.provenance.context[key] = value.is_primitive() ? value : nlohmann::json(value.dump());
    }
  }
}

// When the process began, more threads were runnable than the host has CPUs.
bool is_loaded(const JsonField& context) {
  const auto load = context.find("load_avg");
  const auto cpus = context.find("num_cpus");
  if (!load || !cpus || !load->value().is_array() || load->value().empty()) return false;
  const nlohmann::json& last_minute = load->value().front();
  return last_minute.is_number() && cpus->value().is_number() &&
         last_minute.get<double>() > cpus->value().get<double>();
}

void check_schema_version(const JsonField& fusegate) {
  const auto version = fusegate.find("schema_version");
  if (version && version->integer() > kRunFileSchemaVersion) {
    version->fail(fmt::format("version {} is newer than this fusegate reads ({}); update fusegate",
                              version->integer(), kRunFileSchemaVersion));
  }
}

// Programs may have protocols of their own, with any fields.
nlohmann::json read_protocol(const JsonField& field) {
  if (!field.value().is_object()) field.fail("must be an object");
  nlohmann::json protocol = field.value();
  use_current_names(protocol);
  return protocol;
}

void read_fusegate(const JsonField& fusegate, RunFile& file) {
  check_schema_version(fusegate);
  if (const auto environment = fusegate.find("environment")) {
    file.environment = read_environment(*environment);
  }
  file.provenance.suite = fusegate.text_or_empty("suite");
  if (const auto protocol = fusegate.find("protocol")) {
    file.provenance.protocol = read_protocol(*protocol);
  }
  if (const auto machine = fusegate.find("machine")) {
    file.provenance.cpu = machine->text_or_empty("cpu");
  }
  // Google Benchmark's own "date" and "host_name" stand unless this says otherwise.
  if (const auto provenance = fusegate.find("provenance")) {
    read_provenance(*provenance, file.provenance);
  }
  if (const auto finished = fusegate.find("finished")) file.finished = finished->boolean();
  file.warnings = read_warnings(fusegate);
  file.controls = read_controls(fusegate);
  const auto id = fusegate.find("process_id");
  const auto start = fusegate.find("process_start_ns");
  if (id && start) {
    file.process_id =
        fmt::format("{} {} {}", file.provenance.host, id->value().dump(), start->value().dump());
  }
  file.compared_with = read_compared_with(fusegate);
  file.across_ranks = read_across_ranks(fusegate);
}

std::vector<std::string> texts_of(const JsonField& list) {
  std::vector<std::string> texts;
  for (const JsonField& text : list.elements()) texts.push_back(text.text());
  return texts;
}

}  // namespace

void read_provenance(const JsonField& field, Provenance& provenance) {
  const auto read_text = [&field](std::string_view key, std::string& target) {
    if (const auto found = field.find(key)) target = found->text();
  };
  read_text("commit", provenance.commit);
  read_text("toolchain", provenance.toolchain);
  read_text("fusegate", provenance.fusegate);
  read_text("date", provenance.date);
  read_text("host", provenance.host);
  read_text("cpu", provenance.cpu);
  read_text("device_uuid", provenance.device_uuid);
  read_text("suite", provenance.suite);
  if (const auto dirty = field.find("dirty")) provenance.dirty = dirty->boolean();
  if (const auto protocol = field.find("protocol")) provenance.protocol = read_protocol(*protocol);
  if (const auto context = field.find("context")) provenance.context = read_environment(*context);
  provenance.settings = read_settings(field, kSettings);
  if (const auto models = field.find("models")) {
    for (const JsonField& model : models->elements()) {
      provenance.models.push_back(read_model(model));
    }
  }
}

void use_current_names(nlohmann::json& object) {
  static constexpr std::array<std::pair<const char*, const char*>, 2> kRenamed{
      {{"invocation", "process"}, {"places", "layouts"}}};
  if (!object.is_object()) return;
  for (const auto& [former, current] : kRenamed) {
    if (!object.contains(former) || object.contains(current)) continue;
    object[current] = std::move(object[former]);
    object.erase(former);
  }
  if (object.contains("protocol")) use_current_names(object["protocol"]);
}

DeclaredControls read_controls(const JsonField& object) {
  const auto list = object.find("controls");
  if (!list) return std::nullopt;
  DeclaredControls::value_type names;
  for (const JsonField& name : list->elements()) names.insert(name.text());
  return names;
}

ComparedWith read_compared_with(const JsonField& object) {
  ComparedWith result;
  const auto found = object.find("compared_with");
  if (!found) return result;
  for (const auto& [whose, names] : found->members()) {
    for (const JsonField& name : names.elements()) result[whose].push_back(name.text());
  }
  return result;
}

nlohmann::json across_ranks_json(const OperationsAcrossRanks& operations) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [operation, of] : operations) {
    all[operation] = {{"work", of.work}, {"divided", of.divided}, {"exchanges", of.exchanges}};
  }
  return all;
}

OperationsAcrossRanks read_across_ranks(const JsonField& object) {
  OperationsAcrossRanks operations;
  const auto found = object.find("across_ranks");
  if (!found) return operations;
  for (const auto& [operation, of] : found->members()) {
    operations[operation] = {.work = of.at("work").text(),
                             .divided = texts_of(of.at("divided")),
                             .exchanges = texts_of(of.at("exchanges"))};
  }
  return operations;
}

bool is_control(const DeclaredControls& declared, const Provenance& provenance,
                std::string_view benchmark) {
  if (declared) return declared->contains(benchmark);
  const std::string_view operation = benchmark.substr(0, benchmark.find('/'));
  return is_of_fusegate(provenance) &&
         std::ranges::find(kFormerControls, operation) != kFormerControls.end();
}

Environment read_environment(const JsonField& field) {
  Environment environment;
  for (const auto& [name, value] : field.members()) {
    if (!value.value().is_primitive() || value.value().is_null()) {
      value.fail("must be a string, a number or a boolean");
    }
    environment.emplace(name, value.value());
  }
  return environment;
}

RunFile read_run_context(const nlohmann::json& context, const std::string& source) {
  RunFile file;
  if (context.is_null()) return file;
  const JsonField field(context, source, "context");
  file.environment = plain_environment(field);
  file.provenance.date = field.text_or_empty("date");
  file.provenance.host = field.text_or_empty("host_name");
  if (const auto fusegate = field.find("fusegate")) {
    read_fusegate(*fusegate, file);
  } else {
    read_google_context(field, file);
    if (is_loaded(field)) file.warnings.push_back(Warning::kLoadedHost);
  }
  return file;
}

}  // namespace fusegate::baselines
