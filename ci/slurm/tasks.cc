#include "ci/slurm/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;

// A controller that is busy answers within a minute, or its commands give up.
constexpr double kPatienceS = 100;
constexpr std::string_view kNotStarted = "cannot be started";

constexpr std::array<std::string_view, 11> kEnded{
    "BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",      "FAILED", "NODE_FAIL",
    "PREEMPTED", "REVOKED",   "OUT_OF_MEMORY", "LAUNCH_FAILED", "TIMEOUT"};
constexpr std::array<std::string_view, 6> kWaiting{"CONFIGURING", "PENDING",      "REQUEUED",
                                                   "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '|');) fields.push_back(field);
  return fields;
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "2:0", a code and a signal; squeue of Slurm 22.05 has "512", as wait() returns it.
void set_end(const std::string& text, SlurmTask& task) {
  const std::size_t colon = text.find(':');
  const int first = number_of(text);
  task.exit_code = colon == std::string::npos ? first >> 8 : first;
  task.signal = colon == std::string::npos ? first & 127 : number_of(text.substr(colon + 1));
}

// line: of one task, with as many fields as wanted.
template <typename Parse>
std::map<std::string, SlurmTask> parse_lines(std::string_view text, std::size_t wanted,
                                             const Parse& parse) {
  std::map<std::string, SlurmTask> tasks;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> fields = fields_of(line);
    if (fields.size() < wanted) continue;
    SlurmTask task = parse(fields);
    tasks[task.name] = task;
  }
  return tasks;
}

ChildOutput ask(std::vector<std::string> arguments) {
  return collect_output({.arguments = std::move(arguments), .timeout_s = kPatienceS});
}

std::string ids_of(const SlurmSweep& sweep) {
  std::vector<std::string> ids;
  for (const SlurmJob& job : sweep.jobs) ids.push_back(job.id);
  return fmt::format("{}", fmt::join(ids, ","));
}

std::map<std::string, SlurmTask> queued(const SlurmSweep& sweep, std::string& problem) {
  const ChildOutput output =
      ask({"squeue", "--noheader", "--array", "--states=all", "--jobs=" + ids_of(sweep),
           "--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,exit_code:|,Reason:|"});
  // As squeue says where all of them ended long ago.
  const bool is_forgotten = output.failure.find("Invalid job id") != std::string::npos;
  if (!output.failure.empty() && !is_forgotten) problem = "squeue: " + output.failure;
  return parse_squeue(output.out);
}

// Which of our options sbatch speaks of.
std::string option_of(const std::string& failure, const JobOptions& options) {
  std::string lower = failure;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const auto names = [&](const char* word) { return lower.find(word) != std::string::npos; };
  if (!options.account.empty() && names("account")) return "--account " + options.account;
  if (!options.partition.empty() && names("partition")) return "--partition " + options.partition;
  if (!options.time.empty() && names("time")) return "--time " + options.time;
  return "";
}

}  // namespace

bool SlurmTask::has_ended() const { return std::ranges::find(kEnded, state) != kEnded.end(); }
bool SlurmTask::has_started() const { return std::ranges::find(kWaiting, state) == kWaiting.end(); }

// "8|2|FAILED|n3|512|NonZeroExitCode|"
std::map<std::string, SlurmTask> parse_squeue(std::string_view text) {
  return parse_lines(text, 6, [](const std::vector<std::string>& fields) {
    SlurmTask task{.name = fields[0] + "_" + fields[1],
                   .state = fields[2],
                   .node = fields[3],
                   .reason = fields[5]};
    set_end(fields[4], task);
    return task;
  });
}

// "8_2|CANCELLED by 1000|2:0|n3"
std::map<std::string, SlurmTask> parse_sacct(std::string_view text) {
  return parse_lines(text, 4, [](const std::vector<std::string>& fields) {
    SlurmTask task{
        .name = fields[0], .state = fields[1].substr(0, fields[1].find(' ')), .node = fields[3]};
    set_end(fields[2], task);
    return task;
  });
}

SlurmTasks tasks_of(const SlurmSweep& sweep) {
  SlurmTasks tasks;
  if (sweep.jobs.empty()) return tasks;
  std::map<std::string, SlurmTask> known = queued(sweep, tasks.problem);
  std::map<int, std::string> names;
  for (const SlurmJob& job : sweep.jobs) {
    for (const int shard : job.shards) names[shard] = fmt::format("{}_{}", job.id, shard);
  }
  const bool knows_all =
      std::ranges::all_of(names, [&](const auto& name) { return known.contains(name.second); });
  if (!knows_all) {
    // Without accounting it fails, and nothing more is known.
    known.merge(
        parse_sacct(ask({"sacct", "--noheader", "--parsable2", "--allocations",
                         "--jobs=" + ids_of(sweep), "--format=JobID,State,ExitCode,NodeList"})
                        .out));
  }
  for (const auto& [shard, name] : names) {
    const auto found = known.find(name);
    if (found != known.end()) tasks.of_shards[shard] = found->second;
  }
  return tasks;
}

std::string submit_array(const SlurmSweep& sweep, const std::vector<int>& shards,
                         const JobOptions& options) {
  const ChildOutput output =
      ask({"sbatch", "--parsable", "--array=" + ranges_text(shards), sweep.script().string()});
  if (output.failure.starts_with(kNotStarted)) {
    throw InputError("sbatch", "",
                     fmt::format("{}: is Slurm installed on this machine? Submit from one that has "
                                 "it and sees {}",
                                 output.failure, sweep.folder.string()));
  }
  if (!output.failure.empty()) {
    throw InputError("sbatch", option_of(output.failure, options),
                     fmt::format("refuses the job: {}", output.failure));
  }
  // "123", or "123;cluster" where there are several.
  const std::string id = output.out.substr(0, output.out.find_first_of(";\n"));
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) {
    throw InputError("sbatch", "--parsable", fmt::format("printed \"{}\", not a job's id", id));
  }
  return id;
}

}  // namespace fusegate::ci
