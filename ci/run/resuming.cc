#include "ci/run/resuming.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "baselines/io/error.h"
#include "ci/processes/process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;

void require_same(const fs::path& file, const char* field, const std::string& before,
                  const std::string& now) {
  if (before == now) return;
  throw InputError(
      file.string(), field,
      fmt::format("is \"{}\", and now \"{}\"; --resume goes on with the same run: name "
                  "another folder for another one",
                  before, now));
}

std::string shard_text(const std::optional<ShardRecord>& shard) {
  return shard ? fmt::format("{} of {} of plan {}", shard->number, shard->of, shard->plan)
               : "none: the whole suite";
}

void require_same_run(const fs::path& file, const RunRecord& before, const RunRecord& now) {
  require_same(file, "suite", before.suite, now.suite);
  require_same(file, "program", before.program, now.program);
  require_same(file, "flags", fmt::format("{}", fmt::join(before.flags, " ")),
               fmt::format("{}", fmt::join(now.flags, " ")));
  if (!before.program_hash.empty() && !now.program_hash.empty()) {
    require_same(file, "program_hash", before.program_hash, now.program_hash);
  }
  require_same(file, "shard", shard_text(before.shard), shard_text(now.shard));
}

// Run files and logs of processes that were cut off, recorded or not.
void remove_others(const fs::path& folder, const std::vector<ProcessRecord>& kept) {
  std::set<std::string> stems;
  for (const ProcessRecord& process : kept) stems.insert(fs::path(process.file).stem());
  for (int number = last_process_in(folder); number > 0; --number) {
    const std::string stem = std::to_string(number);
    if (stems.contains(stem)) continue;
    fs::remove(folder / (stem + ".json"));
    fs::remove(folder / (stem + ".log"));
  }
}

void take_folder(const ProgramRequest& program, RunRecord& record) {
  const fs::path file = program.folder / "run.json";
  if (!fs::exists(file)) return;
  RunRecord before = read_run_record(program.folder);
  require_same_run(file, before, record);
  std::erase_if(before.processes,
                [&](const ProcessRecord& process) { return !is_whole(process, program.folder); });
  if (before.measuring) {
    if (const auto ended = ended_unrecorded(*before.measuring, program.folder)) {
      before.processes.push_back(*ended);
    }
  }
  record.processes = std::move(before.processes);
  record.session = std::move(before.session);
  record.identified = std::move(before.identified);
  record.started = std::move(before.started);
  record.ended = std::move(before.ended);
}

// One session filled the folders; it may have been interrupted before it wrote into each.
void share_session(std::vector<RunRecord>& records) {
  std::set<std::string> sessions;
  for (const RunRecord& record : records) {
    if (!record.processes.empty()) sessions.insert(record.session);
  }
  if (sessions.size() != 1) return;
  for (RunRecord& record : records) record.session = *sessions.begin();
}

// By block. Of an A/A comparison with an odd minimum, the last round has one half.
std::set<int> whole_rounds(const MeasuringRequest& request, const std::vector<RunRecord>& records) {
  std::map<int, std::size_t> counts;
  std::set<int> extensions, whole;
  for (const RunRecord& record : records) {
    for (const ProcessRecord& process : record.processes) {
      ++counts[process.block];
      if (process.extension) extensions.insert(process.block);
    }
  }
  const std::size_t round = records.size() * (request.is_aa ? 2 : 1);
  const auto extended = static_cast<std::size_t>(
      std::ranges::count_if(request.programs, &ProgramRequest::is_extended));
  std::size_t left = static_cast<std::size_t>(request.processes) * records.size();
  for (const auto& [block, count] : counts) {
    const std::size_t wanted = extensions.contains(block) ? extended
                               : left > 0                 ? std::min(left, round)
                                                          : round;
    if (count < wanted) continue;
    whole.insert(block);
    left -= std::min(left, count);
  }
  return whole;
}

}  // namespace

std::vector<std::size_t> resume(const MeasuringRequest& request, std::vector<RunRecord>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) take_folder(request.programs[i], records[i]);
  for (std::size_t i = 0; i < records.size(); ++i) {
    remove_others(request.programs[i].folder, records[i].processes);
  }
  share_session(records);
  const std::set<int> whole = whole_rounds(request, records);
  std::vector<std::size_t> without_round;
  for (RunRecord& record : records) {
    const auto counted = std::ranges::stable_partition(
        record.processes,
        [&](const ProcessRecord& process) { return !whole.contains(process.block); });
    const auto own = static_cast<int>(counted.size());
    without_round.push_back(record.processes.size() - counted.size());
    record.planned_processes =
        static_cast<int>(without_round.back()) + std::max(request.processes, own);
  }
  return without_round;
}

}  // namespace fusegate::ci
