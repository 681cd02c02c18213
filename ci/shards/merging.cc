#include "ci/shards/merging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "baselines/io/content_hash.h"
#include "baselines/io/error.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "ci/console/format.h"
#include "ci/processes/run_record.h"
#include "ci/selection/selection.h"
#include "ci/shards/measured_shard.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;
using baselines::Run;

constexpr std::size_t kMostNames = 10;  // in a message

// Of one program.
struct MeasuredShard {
  fs::path folder;
  RunRecord record;

  const ShardRecord& shard() const { return *record.shard; }
  std::string name() const { return fmt::format("shard {} ({})", shard().number, folder.string()); }
};

std::string names_text(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  const std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

std::vector<std::string> programs_of_shard(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw InputError(folder.string(), "", "no such folder");
  std::vector<std::string> programs = programs_in(folder);
  if (programs.empty()) {
    throw InputError(folder.string(), "",
                     "has no run.json, nor have base and head in it; name a folder that a shard "
                     "was measured into");
  }
  return programs;
}

MeasuredShard read_shard_folder(const fs::path& folder) {
  MeasuredShard one{folder, read_run_record(folder)};
  if (!one.record.shard) {
    throw InputError((folder / "run.json").string(), "shard",
                     "is missing: the run measured no shard of a plan; measure it with --plan and "
                     "--shard");
  }
  if (!one.record.finished) {
    throw InputError(folder.string(), "",
                     fmt::format("shard {} did not finish; measure the rest of it with --resume",
                                 one.shard().number));
  }
  return one;
}

// By number.
void require_whole_plan(const std::vector<MeasuredShard>& shards) {
  const ShardRecord& first = shards.front().shard();
  for (std::size_t i = 1; i < shards.size(); ++i) {
    if (shards[i].shard().plan != first.plan || shards[i].shard().of != first.of) {
      throw InputError(
          shards[i].folder.string(), "",
          fmt::format("is shard {} of {} of another plan than {}", shards[i].shard().number,
                      shards[i].shard().of, shards.front().folder.string()));
    }
    if (shards[i].shard().number == shards[i - 1].shard().number) {
      throw InputError(shards[i].folder.string(), "",
                       fmt::format("shard {} is given twice: {} is it too",
                                   shards[i].shard().number, shards[i - 1].folder.string()));
    }
  }
  std::set<int> missing;
  for (int number = 1; number <= first.of; ++number) missing.insert(number);
  for (const MeasuredShard& one : shards) missing.erase(one.shard().number);
  if (missing.empty()) return;
  std::vector<std::string> names;
  for (const int number : missing) names.push_back(std::to_string(number));
  throw InputError("merge", "",
                   fmt::format("shard{} {} of {} {} missing", names.size() == 1 ? "" : "s",
                               names_text(names), first.of, names.size() == 1 ? "is" : "are"));
}

// Whether it says anything of the benchmark: a time, a failure, identical code, why it was skipped.
bool has(const Run& run, const std::string& name) {
  return find_series(run, name) != nullptr || run.skipped.contains(name) ||
         run.left_out.contains(name);
}

std::set<std::string> planned_and_not_in(const Run& run, const ShardRecord& shard) {
  std::set<std::string> holes;
  for (const std::string& name : shard.benchmarks) {
    if (!has(run, name)) holes.insert(name);
  }
  return holes;
}

void require_planned_alone(const MeasuredShard& one, const Run& run,
                           const std::map<std::string, int>& planned) {
  const std::set<std::string> controls(one.shard().controls.begin(), one.shard().controls.end());
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (controls.contains(series.name) || series.is_unmeasured()) continue;
    const auto found = planned.find(series.name);
    if (found != planned.end() && found->second == one.shard().number) continue;
    throw InputError(
        one.name(), "",
        fmt::format("has {}, which {}", series.name,
                    found == planned.end() ? "is not planned"
                                           : fmt::format("shard {} has too", found->second)));
  }
}

// Two shards of one run must be comparable as two processes of one are.
void require_same(const MeasuredShard& one, const Run& run, const MeasuredShard& first,
                  const Run& first_run) {
  if (run.provenance.commit != first_run.provenance.commit) {
    throw InputError(one.name(), "commit",
                     fmt::format("is \"{}\", but \"{}\" in {}: merge shards of one commit",
                                 run.provenance.commit, first_run.provenance.commit, first.name()));
  }
  const auto differences =
      baselines::environment_differences(first_run.environment, run.environment);
  if (differences.empty()) return;
  const auto& [field, before, now] = differences.front();
  throw InputError(one.name(), "environment." + field,
                   fmt::format("is \"{}\", but \"{}\" in {}: measure all shards on cards of one "
                               "model, with the same driver and libraries",
                               now, before, first.name()));
}

// The planned benchmarks that no program of a shard has, by the shard's name: of a duet, one
// program may lack what is new or gone.
class Holes {
 public:
  void add(const MeasuredShard& one, const Run& run) {
    std::set<std::string> own = planned_and_not_in(run, one.shard());
    const auto [found, is_first] = holes_.try_emplace(one.shard().number, one.name(), own);
    if (is_first) return;
    std::erase_if(found->second.second, [&](const auto& name) { return !own.contains(name); });
  }
  void require_none() const {
    for (const auto& [number, holes] : holes_) {
      const std::vector<std::string> names(holes.second.begin(), holes.second.end());
      if (names.empty()) continue;
      throw InputError(holes.first, "",
                       fmt::format("{} planned and not measured: {}",
                                   format_count(names.size(), "benchmark"), names_text(names)));
    }
  }

 private:
  std::map<int, std::pair<std::string, std::set<std::string>>> holes_;
};

// Returns how many benchmarks and cards they have.
MergedRun check_runs(const std::vector<MeasuredShard>& shards, Holes& holes) {
  std::map<std::string, int> planned;
  for (const MeasuredShard& one : shards) {
    for (const std::string& name : one.shard().benchmarks) {
      const auto [found, is_new] = planned.emplace(name, one.shard().number);
      if (is_new) continue;
      throw InputError((one.folder / "run.json").string(), "shard.benchmarks",
                       fmt::format("{} is in shard {} too", name, found->second));
    }
  }
  std::optional<Run> first;
  std::set<std::string> benchmarks, cards;
  for (const MeasuredShard& one : shards) {
    Run run = baselines::load_run({one.folder});
    require_planned_alone(one, run, planned);
    holes.add(one, run);
    if (first) require_same(one, run, shards.front(), *first);
    for (const auto& series : run.benchmarks) benchmarks.insert(series.name);
    cards.insert(run.cards.begin(), run.cards.end());
    if (!first) first = std::move(run);
  }
  return {.shards = shards.size(), .benchmarks = benchmarks.size(), .cards = cards.size()};
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return;  // of a process that failed
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to);
}

// Of a control that the shards' programs say different things of, nothing is known.
void merge_identities(const std::vector<MeasuredShard>& shards, const fs::path& out) {
  std::optional<baselines::Identities> merged;
  std::map<std::string, std::vector<baselines::CallIdentity>> identities;
  for (const MeasuredShard& one : shards) {
    const fs::path file = one.folder / baselines::kIdentitiesFile;
    if (!fs::exists(file)) continue;
    baselines::Identities own = baselines::read_identities(file);
    for (auto& [name, identity] : own.benchmarks) identities[name].push_back(std::move(identity));
    if (!merged) {
      merged = std::move(own);
      continue;
    }
    merged->choices.merge(own.choices);
    merged->counters.merge(own.counters);
    merged->failures.merge(own.failures);
    merged->load_s = std::max(merged->load_s, own.load_s);
  }
  if (!merged) return;
  merged->benchmarks.clear();
  for (const auto& [name, all] : identities) {
    merged->benchmarks.emplace(name, baselines::common_identity(all));
  }
  baselines::write_identities(out / baselines::kIdentitiesFile, *merged);
}

// The same for base and head, whose shards have the same sessions.
std::string session_of(const std::vector<MeasuredShard>& shards) {
  baselines::ContentHash hash;
  for (const MeasuredShard& one : shards) {
    if (one.record.session.empty()) return "";
    hash.add(one.record.session);
  }
  return hash.hex();
}

// file: its new name, without the extension.
ProcessRecord merged_process(ProcessRecord process, const ShardRecord& shard,
                             const std::string& file) {
  process.file = file + ".json";
  process.shard = shard.number;
  if (process.block > 0) process.block = (process.block - 1) * shard.of + shard.number;
  return process;
}

RunRecord merged_record(const std::vector<MeasuredShard>& shards) {
  RunRecord record = shards.front().record;
  record.shard.reset();
  record.aa.reset();  // each is of a part
  record.identified.clear();
  record.program_hash.clear();
  record.session = session_of(shards);
  record.planned_processes = 0;
  record.processes.clear();
  for (const MeasuredShard& one : shards) {
    record.planned_processes += one.record.planned_processes;
    record.started = std::min(record.started, one.record.started);
    record.ended = std::max(record.ended, one.record.ended);
    record.left_out.insert(one.record.left_out.begin(), one.record.left_out.end());
    for (const ProcessRecord& process : one.record.processes) {
      const std::string file = std::to_string(record.processes.size() + 1);
      record.processes.push_back(merged_process(process, one.shard(), file));
    }
  }
  return record;
}

void write_merged(const std::vector<MeasuredShard>& shards, const fs::path& out) {
  const baselines::WriteLock lock = lock_run_folder(out, "--out", false);
  RunRecord record = merged_record(shards);
  record.finished = false;
  write_run_record(out, record);
  auto merged = record.processes.begin();
  for (const MeasuredShard& one : shards) {
    for (const ProcessRecord& process : one.record.processes) {
      const fs::path from = one.folder / process.file, to = out / (merged++)->file;
      link_or_copy(from, to);
      link_or_copy(fs::path(from).replace_extension(".log"),
                   fs::path(to).replace_extension(".log"));
    }
  }
  merge_identities(shards, out);
  record.finished = true;
  write_run_record(out, record);
}

std::vector<MeasuredShard> read_shards(const std::vector<fs::path>& folders,
                                       const std::string& program) {
  std::vector<MeasuredShard> shards;
  for (const fs::path& folder : folders) {
    shards.push_back(read_shard_folder(program.empty() ? folder : folder / program));
  }
  std::ranges::stable_sort(shards, {}, [](const auto& one) { return one.shard().number; });
  require_whole_plan(shards);
  return shards;
}

}  // namespace

std::string merged_text(const MergedRun& run) {
  return fmt::format("{}: {} of {}, {} on {}", run.folder.string(),
                     format_count(run.benchmarks, "benchmark"), format_count(run.shards, "shard"),
                     format_count(run.processes, "process"), format_count(run.cards, "card"));
}

std::vector<MergedRun> merge_shards(const std::vector<fs::path>& shards, const fs::path& out) {
  const std::vector<std::string> programs = programs_of_shard(shards.at(0));
  for (const fs::path& folder : shards) {
    if (programs_of_shard(folder) == programs) continue;
    throw InputError(folder.string(), "",
                     fmt::format("has other runs in it than {}: shards are all of one command",
                                 shards.front().string()));
  }
  std::vector<std::vector<MeasuredShard>> read;
  std::vector<MergedRun> merged;
  Holes holes;
  for (const std::string& program : programs) {
    read.push_back(read_shards(shards, program));
    MergedRun& run = merged.emplace_back(check_runs(read.back(), holes));
    run.folder = program.empty() ? out : out / program;
    check_run_folder(run.folder, "--out", false);
    for (const MeasuredShard& one : read.back()) run.processes += one.record.processes.size();
  }
  holes.require_none();
  for (std::size_t i = 0; i < read.size(); ++i) write_merged(read[i], merged[i].folder);
  return merged;
}

}  // namespace fusegate::ci
