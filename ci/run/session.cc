#include "ci/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/write_lock.h"
#include "ci/console/format.h"
#include "ci/processes/cards.h"
#include "ci/run/extension_plan.h"
#include "ci/run/identification.h"
#include "ci/run/resuming.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

std::vector<baselines::WriteLock> lock_folders(const MeasuringRequest& request) {
  const bool may_hold_some = request.options.earlier != Earlier::kRefused;
  std::set<fs::path> seen;
  for (const ProgramRequest& program : request.programs) {
    if (!seen.insert(fs::weakly_canonical(program.folder)).second) {
      throw baselines::InputError(program.folder.string(), "--out", "given twice");
    }
    check_run_folder(program.folder, "--out", may_hold_some);
  }
  std::vector<baselines::WriteLock> locks;
  for (const ProgramRequest& program : request.programs) {
    locks.push_back(lock_run_folder(program.folder, "--out", may_hold_some));
  }
  return locks;
}

// A confirmation by a single process would let one outlier confirm what another suggested.
void check_counts(const MeasuringRequest& request) {
  const int more = request.max_processes - request.processes;
  if (more == 0 || more >= kLeastConfirmation) return;
  throw baselines::InputError(
      "--max-processes", "",
      fmt::format("{0}: give {1}, the number of --processes, or {2} and more, since one process "
                  "confirms nothing",
                  request.max_processes, request.processes,
                  request.processes + kLeastConfirmation));
}

std::string program_hash_of(const RunRecord& record) {
  ProcessRequest process;
  process.program = record.program;
  process.suite = record.suite;
  process.flags = record.flags;
  return identification_question(process);
}

RunRecord started_record(const MeasuringRequest& request, const ProgramRequest& program) {
  RunRecord record;
  record.started = format_instant(std::chrono::system_clock::now());
  const std::string& suite = request.options.suite;
  const bool adds = request.options.earlier == Earlier::kAddedTo;
  if (adds && fs::exists(program.folder / "run.json")) {
    record = read_run_record(program.folder);
    if (record.suite != suite) {
      throw baselines::InputError(
          (program.folder / "run.json").string(), "suite",
          fmt::format("the folder has a run of \"{}\"; --append cannot add one of \"{}\" to it",
                      record.suite, suite));
    }
  }
  if (!record.processes.empty() && record.shard != request.options.shard) {
    throw baselines::InputError((program.folder / "run.json").string(), "shard",
                                "the folder has another shard of a plan, or a whole suite; "
                                "--append adds to the same one");
  }
  record.shard = request.options.shard;
  record.suite = program.suite.empty() ? suite : program.suite;
  record.flags = request.options.flags;
  record.program = program.program;
  record.program_hash = program_hash_of(record);
  record.programs.clear();
  for (const ProgramRequest& each : request.programs) record.programs.push_back(each.program);
  record.planned_processes += request.processes;
  record.finished = false;
  return record;
}

// Not drawn from the seed: two runs with the same seed are still two sessions.
std::string new_session() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Folders that one session filled so far stay in it, and blocks count on. Otherwise a folder that
// already holds processes would mix two sessions, whose blocks mean different things.
void set_sessions(std::vector<RunRecord>& records) {
  const bool is_fresh = std::ranges::all_of(
      records, [](const RunRecord& record) { return record.processes.empty(); });
  const bool is_shared = std::ranges::all_of(records, [&](const RunRecord& record) {
    return record.session == records.front().session && !record.session.empty();
  });
  if (is_shared) return;
  const std::string session = is_fresh ? new_session() : "";
  for (RunRecord& record : records) record.session = session;
}

std::vector<ProgramRun> start_programs(const MeasuringRequest& request) {
  check_counts(request);
  std::vector<baselines::WriteLock> locks = lock_folders(request);
  std::vector<RunRecord> records;
  for (const ProgramRequest& program : request.programs) {
    records.push_back(started_record(request, program));
  }
  std::vector<std::size_t> earlier;
  if (request.options.earlier == Earlier::kResumed) {
    earlier = resume(request, records);
  } else {
    for (const RunRecord& record : records) earlier.push_back(record.processes.size());
  }
  set_sessions(records);
  std::vector<ProgramRun> programs;
  for (std::size_t i = 0; i < records.size(); ++i) {
    programs.emplace_back(request.programs[i], std::move(records[i]), std::move(locks[i]),
                          earlier[i]);
  }
  return programs;
}

// Each program once.
std::map<std::string, GoogleBenchmark> ask_programs(const std::vector<ProgramRun>& programs,
                                                    const std::vector<std::string>& flags) {
  std::set<std::string> asked;
  std::map<std::string, GoogleBenchmark> found;
  for (const ProgramRun& program : programs) {
    if (!asked.insert(program.program()).second) continue;
    auto answer = ask_for_google_benchmark(program.program(), flags);
    if (answer) found.emplace(program.program(), std::move(*answer));
  }
  return found;
}

}  // namespace

Session::Session(const MeasuringRequest& measuring, Console& output, ProgressDisplay::Now clock)
    : request(measuring),
      console(output),
      now(std::move(clock)),
      programs(start_programs(request)),
      google_benchmarks(ask_programs(programs, request.options.flags)),
      peers(request.peers
                ? std::optional<Peers>(std::in_place, *request.peers, programs.front().record(),
                                       request.options.earlier == Earlier::kAddedTo)
                : std::nullopt),
      started_s(now()),
      processes(request.processes) {}

double Session::left_s() const {
  const std::optional<double>& budget_s = request.options.budget_s;
  return budget_s ? *budget_s - request.options.spent_s - (now() - started_s)
                  : std::numeric_limits<double>::infinity();
}

bool Session::fits(double expected_s) const { return expected_s <= left_s(); }

ProcessRequest Session::process_request(const ProgramRun& program, std::uint64_t seed,
                                        const std::vector<std::string>& flags) const {
  ProcessRequest process;
  process.program = program.program();
  process.suite = program.record().suite;
  process.folder = program.folder();
  process.seed = seed;
  const auto google_benchmark = google_benchmarks.find(process.program);
  if (google_benchmark != google_benchmarks.end()) {
    process.google_benchmark = google_benchmark->second;
  }
  process.flags = request.options.flags;
  process.flags.insert(process.flags.end(), flags.begin(), flags.end());
  process.environment = request.environment;
  if (!request.options.card.empty()) process.environment[kVisibleCards] = request.options.card;
  if (takes_found_choices) take_found_choices(process);
  process.timeout_s = request.options.timeout_s;
  process.interrupts = &interrupts;
  return process;
}

void Session::set_processes(int wanted) {
  for (ProgramRun& program : programs) program.plan_fewer(processes - wanted);
  processes = wanted;
}

void Session::take_budget() {
  selection->measured = budget->measured();
  selection->controls = budget->plan.controls;
  whole_round_flags = budget->flags();
  if (const auto filter = benchmark_filter_flag(selection->measured)) {
    whole_round_flags.insert(whole_round_flags.begin(), *filter);
  }
  leave_out(budget->left_out(), fmt::format("outside of the budget of {:g} s", budget->budget_s));
  set_processes(budget->plan.processes);
}

void Session::leave_out(const std::vector<std::string>& benchmarks, const std::string& why) {
  for (const std::string& name : benchmarks) left_out[name] = why;
  for (ProgramRun& program : programs) program.set_left_out(left_out);
}

void Session::finish() {
  for (ProgramRun& program : programs) program.finish(!is_cut_short());
  if (peers) peers->finish(!is_cut_short());
}

}  // namespace fusegate::ci
