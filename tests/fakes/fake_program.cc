#include "tests/fakes/fake_program.h"

#include <fmt/format.h>

#include <numeric>

namespace fusegate::tests {

namespace fs = std::filesystem;

const std::string_view kReadFlags = R"sh(
# leave PREPARED OUT: as this process's own, since no two processes leave the same file.
leave() {
  sed "s/\"process\": 1/\"process\": ${process:-1}/; s/\"seed\": 1/\"seed\": ${#2}/" "$1" > "$2"
}
for argument in "$@"; do
  case $argument in
    --out=*) out=${argument#--out=} ;;
    --invocation=*) process=${argument#--invocation=} ;;
    --seed=*) seed=${argument#--seed=} ;;
    --help) exit ;;
    --suite=*) suite=${argument#--suite=} ;;
    --identify=*)
      [ -n "$identities" ] && cp "$identities" "${argument#--identify=}" && exit
      echo "bench: $argument: unknown flag; see --help" >&2
      exit 2 ;;
  esac
done
)sh";

// In bash: sh knows descriptors of one digit alone.
const std::string_view kAwaitTurn = R"sh(
await_turn() {
  [ -z "$FUSEGATE_TURN" ] || bash -c '
    printf $1 >&$FUSEGATE_TURN && [ "$(head -c 1 <&$FUSEGATE_TURN)" = t ]' - $1 || exit 2
}
)sh";

std::string write_script(const baselines::ScratchFolder& folder, std::string_view name,
                         std::string_view body) {
  const fs::path path = folder.write(name, "#!/bin/sh\n" + std::string(body));
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

namespace {

nlohmann::json context_of(const FakeRunFile& file) {
  nlohmann::json context{{"date", file.date},
                         {"host_name", file.host},
                         {"num_cpus", 2},
                         {"library_build_type", "release"},
                         {"fusegate",
                          {{"schema_version", 1},
                           {"environment", {{"device", "NVIDIA H200"}, {"driver", file.driver}}},
                           {"provenance", {{"commit", "0123456789abcdef"}, {"dirty", file.dirty}}},
                           {"protocol", file.protocol},
                           {"seed", 1},
                           {"suite", file.suite},
                           {"process", file.process},
                           {"warnings", file.warnings},
                           {"finished", file.finished}}}};
  if (!file.card.empty()) context["fusegate"]["provenance"]["device_uuid"] = file.card;
  if (file.controls) context["fusegate"]["controls"] = *file.controls;
  if (!file.settings.is_null()) context["fusegate"]["provenance"]["settings"] = file.settings;
  return context;
}

nlohmann::json sample_entry(const std::string& name, double time_ns, int repetition) {
  return {{"name", name},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", 10},
          {"repetition_index", repetition},
          {"threads", 1},
          {"iterations", 100},
          {"real_time", time_ns},
          {"cpu_time", time_ns},
          {"time_unit", "ns"},
          {"sm_clock_hz", 1.98e9},
          {"kernel_launches", 1},
          {"flops", 3.9e10},
          {"min_bytes", 1.5e8}};
}

nlohmann::json identity_json(const std::string& code) {
  if (code.empty()) return {{"unknown", "this kind of device cannot identify it"}};
  const nlohmann::json launch{
      {"kernel", "void k()"}, {"code", code}, {"launch", "grid 4x1x1"}, {"arguments", "77c1"}};
  return {{"launches", nlohmann::json::array({launch})}, {"order", "5d0e"}};
}

}  // namespace

std::string identities_text(const FakeRunFile& file) {
  nlohmann::json benchmarks = nlohmann::json::object();
  for (const auto& [name, code] : file.codes) benchmarks[name] = identity_json(code);
  return nlohmann::json{{"fusegate_identities", 1},  {"fusegate", context_of(file)["fusegate"]},
                        {"benchmarks", benchmarks},  {"choices", file.choices},
                        {"failures", file.failures}, {"load_s", file.load_s}}
      .dump(1);
}

std::string run_file_text(const FakeRunFile& file) {
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& [name, time_ns] : file.times) {
    const auto host = file.host_ns.find(name);
    for (int i = 0; i < 10; ++i) {
      entries.push_back(sample_entry(name, time_ns * (1 + 1e-4 * (i % 3 - 1)), i));
      if (host != file.host_ns.end()) entries.back()["host_ns"] = host->second;
    }
    nlohmann::json& first = entries[entries.size() - 10];
    const auto profile = file.profiles.find(name);
    if (profile != file.profiles.end()) first["details"]["profile"] = profile->second;
    const auto choices = file.choices.find(name);
    if (choices != file.choices.end()) first["details"]["choices"] = choices->second;
    const auto code = file.codes.find(name);
    if (code != file.codes.end()) first["details"]["identity"] = identity_json(code->second);
  }
  for (const auto& [name, failure] : file.failures) {
    entries.push_back({{"name", name},
                       {"run_name", name},
                       {"run_type", "iteration"},
                       {"error_occurred", true},
                       {"error_message", failure}});
  }
  return nlohmann::json{{"context", context_of(file)}, {"benchmarks", entries}}.dump(1);
}

std::string write_run(const baselines::ScratchFolder& folder, std::string_view name,
                      const FakeRunFile& file, int processes) {
  // Two runs are never the same to the last digit.
  const double own = 6e-5 * (std::accumulate(name.begin(), name.end(), 0) % 4);
  for (int i = 1; i <= processes; ++i) {
    FakeRunFile shifted = file;
    shifted.process = i;
    for (auto& [benchmark, time_ns] : shifted.times) {
      time_ns *= 1 + 2e-4 * (i % 3 - 1);
      if (i == 1) time_ns *= 1 + own;
    }
    for (auto& [benchmark, host_ns] : shifted.host_ns) host_ns *= 1 + 0.02 * (i % 3 - 1);
    folder.write(fmt::format("{}/{}.json", name, i), run_file_text(shifted));
  }
  return (folder.path() / name).string();
}

}  // namespace fusegate::tests
