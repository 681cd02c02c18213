#include "ci/slurm/sweep_folder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/json_field.h"
#include "ci/processes/process.h"
#include "ci/processes/run_record.h"
#include "ci/shards/measured_shard.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::InputError;
using baselines::JsonField;

constexpr int kVersion = 1;
constexpr const char* kRecord = "slurm.json";

SlurmJob parse_job(const JsonField& field) {
  SlurmJob job{.id = field.at("id").text(), .submitted = field.text_or_empty("submitted")};
  for (const JsonField& shard : field.at("shards").elements()) {
    job.shards.push_back(shard.integer());
  }
  return job;
}

}  // namespace

fs::path SlurmSweep::run_of(int shard) const { return folder / fmt::format("shard-{}", shard); }
fs::path SlurmSweep::log_of(int shard) const { return folder / fmt::format("shard-{}.log", shard); }

bool has_sweep(const fs::path& folder) { return fs::exists(folder / kRecord); }

SlurmSweep read_sweep(const fs::path& folder) {
  const fs::path file = fs::absolute(folder) / kRecord;
  if (!fs::exists(file)) {
    throw InputError(folder.string(), "",
                     "has no slurm.json: name a folder that fusegate slurm submit was given");
  }
  const nlohmann::json json = baselines::parse_json(baselines::read_file(file), file.string());
  const JsonField root(json, file.string(), "");
  if (root.at("fusegate_slurm").integer() != kVersion) {
    root.at("fusegate_slurm").fail("not a version that this fusegate reads; expected 1");
  }
  SlurmSweep sweep{.folder = file.parent_path(), .from = root.at("from").text()};
  sweep.plan = read_plan(sweep.plan_file());
  for (const JsonField& word : root.at("command").elements()) sweep.command.push_back(word.text());
  for (const JsonField& job : root.at("jobs").elements()) sweep.jobs.push_back(parse_job(job));
  return sweep;
}

void write_sweep(const SlurmSweep& sweep) {
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  for (const SlurmJob& job : sweep.jobs) {
    jobs.push_back({{"id", job.id}, {"shards", job.shards}, {"submitted", job.submitted}});
  }
  const nlohmann::ordered_json json{{"fusegate_slurm", kVersion},
                                    {"command", sweep.command},
                                    {"from", sweep.from.string()},
                                    {"jobs", std::move(jobs)}};
  baselines::write_atomically(sweep.plan_file(), plan_text(sweep.plan));
  baselines::write_atomically(sweep.folder / kRecord, json.dump(1) + "\n");
}

ShardProgress progress_of(const SlurmSweep& sweep, int shard) {
  const fs::path folder = sweep.run_of(shard);
  const std::vector<std::string> programs = programs_in(folder);
  ShardProgress progress{.finished = !programs.empty()};
  for (const std::string& program : programs) {
    const fs::path own = program.empty() ? folder : folder / program;
    const RunRecord record = read_run_record(own);
    if (record.shard != shard_of(sweep.plan, shard)) {
      throw InputError((own / "run.json").string(), "shard",
                       fmt::format("is not shard {} of {}: move the folder away, or name another "
                                   "one for this plan",
                                   shard, sweep.plan_file().string()));
    }
    progress.finished = progress.finished && record.finished;
    progress.planned += record.planned_processes;
    for (const ProcessRecord& process : record.processes) {
      is_whole(process, own) ? ++progress.measured : ++progress.failed;
    }
  }
  return progress;
}

}  // namespace fusegate::ci
