// The commands of `fusegate` that measure, and what goes before and after it, as those of
// ci/commands/reading/commands.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/bisect/bisection.h"
#include "ci/bisect/confirmation.h"
#include "ci/commands/reading/commands.h"
#include "ci/run/measure_run.h"
#include "ci/slurm/job_script.h"

namespace fusegate::ci {

// Measures a suite by processes of one benchmark program, or of several that take turns, into a run
// folder each.
struct RunRequest {
  MeasuringOptions measuring{};
  ProcessCounts processes{};
  JudgingRequest judging{};  // extensions are decided by it. The candidate is set here
  // Runs that are compared with the first of them, in place of a baseline.
  bool is_judged_by_first = false;
  std::vector<std::filesystem::path> out{};  // a folder a program, or several for one program
  std::vector<std::string> programs{};       // empty: the benchmark program beside this one
  bool aa = false;     // compare one half of the processes with the other (A/A)
  bool peers = false;  // measure peers after every process, of one --out folder
  std::optional<std::filesystem::path> peers_out{};  // by default the --out folder's name, "-peers"
  PeersProgram peers_program{};
  std::optional<std::filesystem::path> aa_history{};
};
void add_run(CommandLine& line);
// 0 where every process ended well, 2 where one did not or the run was interrupted; what was
// measured stays in the folders.
baselines::ExitCode run_command(const RunRequest& request, Console& console);
// Reads the plan that names a shard, where one does.
void take_shard(MeasuringOptions& measuring);
// A stored run of the suite, where a part of it is asked for: it names the benchmarks.
std::optional<baselines::Run> stored_part(const MeasuringOptions& measuring,
                                          const JudgingRequest& judging);
// The measuring alone, which says more of how it ended.
RunResult measure_programs(const RunRequest& request, Console& console);

// Splits a suite into shards (ci/shards/planning.h).
struct PlanFileRequest {
  std::string suite{};
  int shards = 1;
  std::string program{};                      // empty: the one beside this one
  std::vector<std::string> flags{};           // of the program
  std::vector<std::filesystem::path> from{};  // a run; empty: the stored baseline
  JudgingRequest judging{};                   // stores and controls
  std::filesystem::path out{};
};
void add_plan(CommandLine& line);
baselines::ExitCode plan_command(const PlanFileRequest& request, Console& console);

// Joins the runs of shards (ci/shards/merging.h).
struct MergeRequest {
  std::vector<std::filesystem::path> shards{};
  std::filesystem::path out{};
};
void add_merge(CommandLine& line);
baselines::ExitCode merge_command(const MergeRequest& request, Console& console);

// A plan's shards as an array of jobs of Slurm (ci/slurm).
struct SlurmRequest {
  std::string action{};            // submit, status, collect
  std::filesystem::path folder{};  // of status and collect
  std::filesystem::path plan{};
  std::filesystem::path out{};         // submit: the sweep's folder; collect: the run's
  std::vector<std::string> command{};  // that each task runs
  JobOptions options{};
};
void add_slurm(CommandLine& line);
// 0 where it was submitted or merged; of status, where no shard failed or stopped; else 2.
baselines::ExitCode slurm_command(const SlurmRequest& request, Console& console);

// Measures two builds of the benchmark program side by side and gates the one by the other: what
// differs from day to day or from card to card does not differ within a round.
struct DuetRequest {
  MeasuringOptions measuring{.budget_s = 600};
  ProcessCounts processes{};
  JudgingRequest judging{};
  std::string base{};  // programs
  std::string head{};
  std::filesystem::path out{};  // gets base, base_again and head; empty: .fusegate/runs/TIME
  bool aa = true;               // measure base twice, and compare it with itself (A/A)
  std::optional<std::filesystem::path> aa_history{};
  GateFiles files{};
  std::vector<std::string> notes{};  // for the report
};
void add_duet(CommandLine& line);
// Ends as gate_measured() does. Where it throws, the files asked for say that nothing was judged.
baselines::ExitCode duet_command(const DuetRequest& request, Console& console);

// The head alone, with what is measured of it.
RunRequest run_of_head(const DuetRequest& duet);

// Measures the program of a stored baseline, which is built from its commit, and another one side
// by side, on whatever card and driver is here, and gates the other by it. How the stored figures
// changed is reported beside the verdict (ci/gate/replay.h).
struct ReplayRequest {
  // base: empty: built; head: empty: the one beside this one.
  DuetRequest duet{};
  std::filesystem::path checkout{};  // that the baseline's commit is of
};
void add_replay(CommandLine& line);
// Where the baseline's program cannot be had, the candidate alone is measured and gated by the
// stored figures. Throws where no baseline is stored.
baselines::ExitCode replay_command(const ReplayRequest& request, Console& console);
// The one that is named, or that a store has for the device of the program; nothing where none has.
std::optional<std::filesystem::path> baseline_to_replay(const ReplayRequest& request);

// All of a nightly or a pull request's job: measures a suite, gates it by the stored baseline or by
// another build, and keeps runs and reports. Where nothing is stored for this environment, the
// first run becomes a local baseline, and a second one is gated by it.
struct JobRequest {
  // base: empty: a baseline is looked up; head: empty: the benchmark program beside this one. Its
  // folder, files, baseline and candidate are the job's to say. On two busy cores 6 processes find
  // what is 1.25 times as long (docs/evidence/cpu.md).
  DuetRequest duet{.measuring = {.suite = "smoke"}, .processes = {.minimum = 6, .is_given = true}};
  bool require_baseline = false;
  // The stored baseline, where there is one. One that a job recorded is always replayed, as its
  // program is kept.
  bool replay = false;
  std::filesystem::path checkout{};  // that its commit is of
  std::string who{};                 // accepts the first baseline; empty: as for accept
  double started_s = 0;              // how long ago the clock of the printed times started
  std::filesystem::path folder{};    // gets runs/TIME, reports/TIME, baselines and programs
};
void add_job(CommandLine& line);
// Ends as gate_measured() does. gate.json and gate.md are there whatever happens: where nothing was
// judged they say why, also of a job that was killed.
baselines::ExitCode job_command(const JobRequest& request, Console& console);

// The commit between two that changed a benchmark's time (ci/bisect/bisection.h).
struct BisectRequest {
  BisectionRequest bisection{.bad = "HEAD"};
  std::optional<std::filesystem::path> json{};
};
void add_bisect(CommandLine& line);
// 0 where one was found, or several that share the change; 2 where the two do not differ for
// certain, and where somebody interrupted. The JSON is there whatever happens.
baselines::ExitCode bisect_command(const BisectRequest& request, Console& console);

// Measures a history's changes once more (ci/bisect/confirmation.h).
void add_confirm(CommandLine& line);
// 0 where each is confirmed or refuted; 2 where one is not, and where somebody interrupted.
baselines::ExitCode confirm_command(const ConfirmationRequest& request, Console& console);

// Checks this machine and says what would spoil measurements.
struct DoctorRequest {
  std::string program;  // empty: the benchmark program beside this one
};
void add_doctor(CommandLine& line);
// 0 where the machine can measure, whatever the warnings; 2 where the benchmark program cannot run.
baselines::ExitCode doctor_command(const DoctorRequest& request, Console& console);

// How far processes and cards spread and how small an effect is found, from processes of unchanged
// code.
struct CalibrateRequest {
  MeasuringOptions measuring{};
  // What is calibrated: runs that were measured already, or else new ones.
  std::vector<std::filesystem::path> runs{};
  std::optional<int> processes{};              // 10
  std::string program{};                       // empty: the benchmark program beside this one
  std::optional<std::filesystem::path> out{};  // a folder of its own where there is none
  int side = 5;                                // processes of the baseline and of the candidate
  std::filesystem::path store{};
  std::optional<std::filesystem::path> markdown{};
};
void add_calibrate(CommandLine& line);
// 0 where all was measured, printed and stored, whatever it says; 2 where a process failed or
// somebody interrupted.
baselines::ExitCode calibrate_command(const CalibrateRequest& request, Console& console);

// A starting project of one's own kernels (ci/starting/project.h).
struct InitRequest {
  std::filesystem::path folder{};
  bool is_python = false;  // a file of Python kernels in place of C++ sources
};
void add_init(CommandLine& line);
baselines::ExitCode init_command(const InitRequest& request, Console& console);

// How a command ends that measured the candidate itself. The gate's exit code; 2 instead of 0 where
// a process did not end well. 2 also where somebody interrupted: part of a run is not judged,
// and the files say so.
baselines::ExitCode gate_measured(const GateRequest& request, const RunResult& measured,
                                  Console& console);

}  // namespace fusegate::ci
