#include "tests/fakes/fake_bench.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace fusegate::tests {
namespace {

constexpr int kPhases = 3;

// Fragments that the script puts together: the context, and each benchmark's entries in each phase.
void write_fragments(const baselines::ScratchFolder& folder, const std::string& prefix,
                     const FakeBench& bench, const FakeRunFile& file) {
  std::string names;
  std::vector<std::string> benchmarks;
  int number = 0;
  const auto add = [&](const std::string& name, auto file_in_phase) {
    names += name + "\n";
    benchmarks.push_back(name);
    ++number;
    for (int phase = 0; phase < kPhases; ++phase) {
      const auto json = nlohmann::json::parse(run_file_text(file_in_phase(phase)));
      const std::string entries = json["benchmarks"].dump();
      folder.write(fmt::format("{}/{}/{}", prefix, phase, number),
                   fmt::format(",{}", entries.substr(1, entries.size() - 2)));
    }
  };
  for (const auto& [name, time_ns] : file.times) {
    const double noise = bench.noise.contains(name) ? bench.noise.at(name) : 2e-4;
    add(name, [&, name = name, time_ns = time_ns](int phase) {
      return FakeRunFile{.times = {{name, time_ns * (1 + noise * (phase - 1))}},
                         .codes = file.codes,
                         .host_ns = file.host_ns};
    });
  }
  for (const auto& failure : file.failures) {
    add(failure.first, [&](int) { return FakeRunFile{.times = {}, .failures = {failure}}; });
  }
  folder.write(prefix + "/names", names);
  const auto context = nlohmann::json::parse(run_file_text(file))["context"];
  folder.write(prefix + "/context", context.dump());
  const nlohmann::json plan{{"controls", file.controls.value_or(std::vector<std::string>())},
                            {"protocol", file.protocol}};
  folder.write(prefix + "/plan",
               nlohmann::json{{"fusegate", plan}, {"benchmarks", benchmarks}}.dump());
  folder.write(prefix + "/environment",
               nlohmann::json{{"environment", context["fusegate"]["environment"]}}.dump());
}

constexpr std::string_view kScript = R"sh(
case " $* " in
  *" --environment "*) cat "$folder/$name-prepared/first/environment"; exit ;;
  *" --plan "*) cat "$folder/$name-prepared/first/plan"; exit ;;
esac
filter=.
energy=
for argument in "$@"; do
  case $argument in
    --benchmark_filter=*) filter=${argument#--benchmark_filter=} ;;
    --energy-ms=*) energy=" with energy" ;;
  esac
done
echo "$name $process $filter$energy" >> "$folder/calls"
# Two runs of one program are never the same to the last digit.
run=${out%/*}; run=${run##*/}
phase=$((phase + ${#run}))
when=first
[ $process -ge $change_at ] && when=later
prepared=$folder/$name-prepared/$when
# Google Benchmark, too, looks for the name with this at its end.
files=$(sed 's#$#/manual_time#' "$prepared/names" | grep -En -- "$filter" | while IFS=: read -r number benchmark; do
  echo "$prepared/$(((process + phase) % 3))/$number"
done)
{
  printf '{"context":'
  # No two processes leave the same file.
  sed "s/\"process\":1/\"process\":$process/; s/\"seed\":1/\"seed\":${#run}/
    s/\"provenance\":{/&\"device_uuid\":\"$CUDA_VISIBLE_DEVICES\",/" "$prepared/context"
  printf ',"benchmarks":['
  cat $files | tail -c +2  # every one starts with a comma
  printf ']}'
} > "$out"
)sh";

}  // namespace

std::string write_bench(const baselines::ScratchFolder& folder, const std::string& name,
                        const FakeBench& bench) {
  write_fragments(folder, name + "-prepared/first", bench, bench.file);
  const auto later = folder.path() / (name + "-prepared/later");
  std::filesystem::remove_all(later);
  if (bench.later) {
    write_fragments(folder, name + "-prepared/later", bench, *bench.later);
  } else {
    std::filesystem::create_directory_symlink("first", later);
  }
  std::string start;
  if (!bench.file.codes.empty()) {
    const auto identities =
        folder.write(name + "-prepared/identities", identities_text(bench.file));
    start = fmt::format("identities='{}'\n", identities.string());
  }
  return write_script(
      folder, name,
      fmt::format(
          "[ \"$1\" = --help ] && exit\n{}{}{}name='{}' folder='{}' phase={} change_at={}\n{}{}\n",
          start, bench.before, kReadFlags, name, folder.path().string(), bench.phase,
          bench.change_at, kScript, bench.more));
}

}  // namespace fusegate::tests
