#include "baselines/record/run_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "baselines/formats/foreign_file.h"
#include "baselines/io/error.h"
#include "baselines/launches/choice.h"
#include "baselines/record/run_context.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

// A process without an identity may have run other code.
std::optional<CallIdentity> identity_of_all(const std::vector<CallIdentity>& identities,
                                            std::size_t processes) {
  if (identities.empty()) return std::nullopt;
  if (identities.size() == processes) return common_identity(identities);
  return CallIdentity{
      .unknown = fmt::format("only {} of {} processes have one", identities.size(), processes)};
}

// File names, with their folders where names repeat.
std::vector<std::string> process_names(const std::vector<std::filesystem::path>& files) {
  std::set<std::filesystem::path> names;
  for (const auto& file : files) names.insert(file.filename());
  std::vector<std::string> result;
  for (const auto& file : files) {
    const bool is_unique = names.size() == files.size();
    result.push_back(is_unique ? file.filename() : file.parent_path().filename() / file.filename());
  }
  return result;
}

// "a, b" of "a" and "b"; each once.
void add_name(std::string& names, const std::string& name) {
  if (names == name || name.empty()) return;
  const std::string listed = ", " + names + ", ";
  if (listed.find(", " + name + ", ") != std::string::npos) return;
  names += names.empty() ? name : ", " + name;
}

// Samples of other tools are not comparable with ours, nor means with samples. In other fields of
// the protocol, fusegate_bench and the peers may differ.
std::vector<EnvironmentDifference> tool_differences(const nlohmann::json& ours,
                                                    const nlohmann::json& theirs) {
  const auto fields = [](const nlohmann::json& protocol) {
    Environment environment;
    for (const char* field : {kTool, kFigures, kTimer}) {
      if (protocol.contains(field)) {
        environment.emplace(std::string("protocol.") + field, protocol.at(field));
      }
    }
    return environment;
  };
  return environment_differences(fields(ours), fields(theirs));
}

// What differs between processes does not describe the run.
void keep_common(const Environment& other, Environment& context) {
  std::erase_if(context, [&other](const auto& member) {
    const auto found = other.find(member.first);
    return found == other.end() || found->second != member.second;
  });
}

// A number for each process: the same for those of one shard of one folder, and for all that are of
// none. Two cards' runs may have shared out the suite differently.
std::vector<int> shard_numbers(const std::vector<ProcessPosition>& positions,
                               const std::vector<std::filesystem::path>& files) {
  std::map<std::pair<std::filesystem::path, int>, int> number_of;
  std::vector<int> numbers;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const int shard = positions[i].shard;
    const auto folder = shard == 0 ? std::filesystem::path() : files[i].parent_path();
    const int next = static_cast<int>(number_of.size());
    numbers.push_back(number_of.emplace(std::pair(folder, shard), next).first->second);
  }
  return numbers;
}

// Groups of processes of a shard that have a benchmark in common. Processes of two programs with
// different benchmarks are not expected to have each other's, nor are those of two shards, which
// have their controls in common.
class ProcessGroups {
 public:
  ProcessGroups(const std::vector<ProcessPosition>& positions,
                const std::vector<std::filesystem::path>& files)
      : positions_(positions), shards_(shard_numbers(positions, files)), group_(positions.size()) {
    std::iota(group_.begin(), group_.end(), 0);
  }

  void join(const std::vector<int>& processes) {
    std::map<int, int> first_of_shard;
    for (const int process : processes) {
      const auto [first, is_new] = first_of_shard.emplace(shard_of(process), process);
      if (!is_new) join(first->second, process);
    }
  }
  // How many are in the groups of these, without extensions.
  int size(const std::vector<int>& processes) const {
    std::set<int> groups;
    for (const int process : processes) groups.insert(of(process));
    int size = 0;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (groups.contains(group_[i]) && !positions_[i].extension) ++size;
    }
    return size;
  }

 private:
  int of(int process) const { return group_[static_cast<std::size_t>(process)]; }
  int shard_of(int process) const { return shards_[static_cast<std::size_t>(process)]; }
  void join(int a, int b) {
    const int from = of(b), to = of(a);
    if (from != to) std::ranges::replace(group_, from, to);
  }

  const std::vector<ProcessPosition>& positions_;
  std::vector<int> shards_, group_;
};

// The processes that measured it, without extensions, which measure few benchmarks.
std::vector<int> first_processes(const BenchmarkSeries& series) {
  std::vector<int> processes;
  for (const ProcessSummary& summary : series.processes) {
    if (!summary.extension) processes.push_back(summary.process);
  }
  return processes;
}

// Records in left_out what only some processes of a group have, also where the others skipped it.
void find_partial(const std::vector<ProcessPosition>& positions,
                  const std::vector<std::filesystem::path>& files, Run& run) {
  ProcessGroups groups(positions, files);
  for (const BenchmarkSeries& series : run.benchmarks) groups.join(first_processes(series));
  for (const BenchmarkSeries& series : run.benchmarks) {
    const std::vector<int> measured = first_processes(series);
    if (measured.empty() || !series.failure.empty()) continue;
    const int of = groups.size(measured);
    if (const auto skipped = run.skipped.extract(series.name)) {
      run.left_out[series.name] = "some processes skipped it: " + skipped.mapped();
    } else if (static_cast<int>(measured.size()) < of) {
      run.left_out[series.name] = fmt::format("{} of {} processes have it", measured.size(), of);
    }
  }
}

}  // namespace

void RunMerger::add_context(RunFile&& file, const std::string& source) {
  run_.skipped.merge(file.skipped);
  run_.left_out.merge(file.left_out);
  run_.compared_with.merge(file.compared_with);
  run_.across_ranks.merge(file.across_ranks);
  add_warnings(run_.warnings, file.warnings);
  if (first_source_.empty()) {
    first_source_ = source;
    run_.environment = std::move(file.environment);
    run_.provenance = std::move(file.provenance);
    return;
  }
  const auto differences = environment_differences(run_.environment, file.environment);
  if (!differences.empty()) {
    refuse("environment." + differences.front().field, differences.front(), "environment", source);
  }
  run_.environment.insert(file.environment.extract(kNccl));
  run_.provenance.dirty |= file.provenance.dirty;
  keep_common(file.provenance.context, run_.provenance.context);
  add_name(run_.provenance.host, file.provenance.host);
  add_name(run_.provenance.cpu, file.provenance.cpu);
  const auto of_tools = tool_differences(run_.provenance.protocol, file.provenance.protocol);
  if (!of_tools.empty()) refuse(of_tools.front().field, of_tools.front(), "tool", source);
}

void RunMerger::refuse(const std::string& field, const EnvironmentDifference& difference,
                       std::string_view shared, const std::string& source) const {
  throw InputError(
      source, field,
      fmt::format("is \"{}\", but \"{}\" in {}: processes of one run must have the same {}",
                  difference.candidate, difference.baseline, first_source_, shared));
}

int RunMerger::card_number(const std::string& uuid) {
  const auto found = std::ranges::find(run_.cards, uuid);
  const auto number = found - run_.cards.begin();
  if (found == run_.cards.end()) run_.cards.push_back(uuid);
  return static_cast<int>(number);
}

void RunMerger::add(RunFile&& file, const std::string& source, const ProcessPosition& position) {
  std::vector<BenchmarkResult> benchmarks = std::move(file.benchmarks);
  const int card = card_number(file.provenance.device_uuid);
  add_context(std::move(file), source);
  for (BenchmarkResult& result : benchmarks) {
    result.summary.card = card;
    result.summary.process = static_cast<int>(files_.size());
    result.summary.block = position.block;
    result.summary.extension = position.extension;
    add_benchmark(std::move(result));
  }
  files_.emplace_back(source);
  positions_.push_back(position);
}

void RunMerger::add_identities(Identities&& identities, const std::string& source) {
  RunFile context = read_run_context({{"fusegate", std::move(identities.context)}}, source);
  const auto series = [&, controls = context.controls,
                       provenance = context.provenance](const std::string& name) -> Series& {
    return series_of(name, is_control(controls, provenance, name));
  };
  add_context(std::move(context), source);
  for (auto& [name, identity] : identities.benchmarks) {
    series(name).identities_before.push_back(std::move(identity));
  }
  for (auto& [name, counters] : identities.counters) {
    series(name).counters_before = std::move(counters);
  }
  for (auto& [name, choices] : identities.choices) {
    series(name).choices_before = std::move(choices);
  }
  for (auto& [name, failure] : identities.failures) {
    series(name).failure_before = std::move(failure);
  }
}

RunMerger::Series& RunMerger::series_of(const std::string& name, bool control) {
  const auto [found, inserted] = index_.try_emplace(name, series_.size());
  if (inserted) {
    BenchmarkSeries& added = series_.emplace_back().series;
    added.name = name;
    added.is_control = control;
  }
  Series& series = series_[found->second];
  series.series.is_control = series.series.is_control && control;
  return series;
}

void RunMerger::add_benchmark(BenchmarkResult&& result) {
  auto& [series, counters, profiles, stage_times, identities, before, failure_before,
         counters_before, choices_before] = series_of(result.name, result.is_control);
  add_warnings(series.warnings, result.warnings);
  if (!result.choices.empty()) {
    if (!choice_changes(series.choices, result.choices).empty()) {
      add_warnings(series.warnings, {Warning::kMixedChoices});
    }
    series.choices = std::move(result.choices);
  }
  if (result.stage_times) stage_times.push_back(std::move(*result.stage_times));
  if (result.expectation && (!series.expectation || series.expectation->met())) {
    series.expectation = std::move(result.expectation);
  }
  if (!result.failure.empty()) {
    if (series.failure.empty()) series.failure = std::move(result.failure);
    return;
  }
  series.processes.push_back(result.summary);
  for (const auto& [name, value] : result.counters) counters[name].push_back(value);
  if (result.profile) profiles.push_back(std::move(*result.profile));
  if (result.identity) identities.push_back(std::move(*result.identity));
}

Run RunMerger::take() {
  for (auto& [series, counters, profiles, stage_times, identities, before, failure_before,
              counters_before, choices_before] : series_) {
    if (series.is_unmeasured()) {
      series.failure = std::move(failure_before);
      series.counters = std::move(counters_before);
      series.choices = std::move(choices_before);
    }
    if (!stage_times.empty()) series.stage_times = median_stage_times(stage_times);
    for (auto& [name, values] : counters) series.counters.emplace(name, median(std::move(values)));
    if (!profiles.empty()) series.profile = merge_profiles(profiles);
    series.identity = identity_of_all(identities, series.processes.size());
    if (!series.identity && !before.empty()) series.identity = common_identity(before);
    run_.benchmarks.push_back(std::move(series));
  }
  std::ranges::sort(run_.benchmarks, {}, &BenchmarkSeries::name);
  find_partial(positions_, files_, run_);
  run_.process_names = process_names(files_);
  return std::move(run_);
}

}  // namespace fusegate::baselines
