// The commands of `fusegate`: what each takes, and what it does by default. A command's own file
// adds its flags to the command line, calls, and prints.
//
// Every command throws InputError for bad input, which main prints and ends with 2 for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/bisect/bisection.h"
#include "ci/bisect/confirmation.h"
#include "ci/console/console.h"
#include "ci/gate/judging.h"
#include "ci/report/report.h"
#include "ci/run/measure_run.h"

namespace fusegate::ci {

class CommandLine;

// Where a gate's verdicts go, besides the terminal.
struct GateFiles {
  std::optional<std::filesystem::path> json{};
  std::optional<std::filesystem::path> markdown{};
  std::optional<std::filesystem::path> html{};  // a report's page, for duet and job
};

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
  bool append = false;                       // add to folders that already hold processes
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

// Compares a run with a baseline.
struct GateRequest {
  JudgingRequest judging;
  GateFiles files{};
  std::string page_title = "fusegate report";
  std::vector<std::string> notes{};  // what else the report is to say
};
void add_gate(CommandLine& line);
// Where it cannot judge, the files are written too, with exit code 2 and the reason: what a former
// gate left there must not pass for this one's verdict. An A/A comparison in the record of the
// candidate's run folder is reported beside the verdict and does not enter it.
baselines::ExitCode gate_command(const GateRequest& request, Console& console);
// How a command ends that measured the candidate itself. The gate's exit code; 2 instead of 0 where
// a process did not end well. 2 also where somebody interrupted: part of a run is not judged,
// and the files say so.
baselines::ExitCode gate_measured(const GateRequest& request, const RunResult& measured,
                                  Console& console);
// Says on console.err what cannot be written: the problem at hand matters more.
void write_gate_failure(const GateRequest& request, const std::string& problem, Console& console);

// Makes a run the baseline of its device and suite, and the first one also the anchor that creep is
// measured from.
struct AcceptRequest {
  std::vector<std::filesystem::path> runs{};
  std::string reason{};
  std::string who{};                            // empty: git's user, else the login's name
  std::string suite{};                          // empty: the one that the run names
  std::filesystem::path store{};                // where it goes
  std::vector<std::filesystem::path> stores{};  // where if_missing looks besides
  bool if_missing = false;                      // do nothing where this environment has a baseline
  bool replace_anchor = false;                  // else an anchor that is there stays
  bool force = false;                           // whatever reasons_not_to_accept says
};
void add_accept(CommandLine& line);
// Prints the baseline's path behind "recorded" or, with if_missing, "kept"; then, on a line of its
// own, what slowdowns the new baseline finds.
baselines::ExitCode accept_command(const AcceptRequest& request, Console& console);
// Who, or else git's user, or the login's name.
std::string user_or(const std::string& who);

// Writes regressions of a gate into the file of accepted slowdowns (baselines/gating/accepted.h).
struct AcknowledgeRequest {
  std::filesystem::path gate{};           // of gate --json
  std::vector<std::string> benchmarks{};  // patterns of the regressions' names
  bool all = false;
  std::string reason{};
  std::string until{};  // "2026-12-31"
  std::string link{};
  std::string who{};  // empty: as accept
  std::filesystem::path accepted{};
};
void add_acknowledge(CommandLine& line);
baselines::ExitCode acknowledge_command(const AcknowledgeRequest& request, Console& console);

// A run as Markdown and as one self-contained HTML page, compared with a baseline where there is
// one.
struct ReportRequest {
  JudgingRequest judging;
  std::string title = "fusegate report";
  std::optional<std::filesystem::path> markdown{};  // none of the three: Markdown goes to out
  std::optional<std::filesystem::path> html{};
  std::optional<std::filesystem::path> svg{};  // one picture: where fusion wins
  // Run folders or run files of peers, together one run; empty where there are none. The judging's
  // allow_environment_differences goes for them too.
  std::vector<std::filesystem::path> peers{};
};
void add_report(CommandLine& line);
// 0 where the report was written, whatever it says.
baselines::ExitCode report_command(const ReportRequest& request, Console& console);
// Throws InputError.
Report make_report(const ReportRequest& request);
// The page alone, of a candidate that is loaded, and judged where it could be. A verdict stands
// whether or not a page can be written: console.err says why there is none.
void draw_page(Report report, const std::filesystem::path& html, Console& console);

// Nights as a folder of pages (ci/site/site.h).
struct SiteRequest {
  std::filesystem::path database{};  // empty: .fusegate/history.db of the checkout
  std::filesystem::path out{};
  ReportRequest report{};  // of the last night's run; without a candidate there is none
};
void add_site(CommandLine& line);
baselines::ExitCode site_command(const SiteRequest& request, Console& console);

// A run's figures as a table.
struct ShowRequest {
  std::vector<std::filesystem::path> paths;
  baselines::Unfinished unfinished = baselines::Unfinished::kLeftOut;
};
void add_show(CommandLine& line);
baselines::ExitCode show_command(const ShowRequest& request, Console& console);

// A history of nights in a database: adds runs, reads nights, draws a benchmark's.
struct HistoryRequest {
  std::string action{};              // add, import, show
  std::vector<std::string> names{};  // paths of add and import, benchmarks of show
  std::filesystem::path database{};
  std::filesystem::path checkout{};  // whose commits the runs name
};
void add_history(CommandLine& line);
// Of add and import, everything is read before anything is added.
baselines::ExitCode history_command(const HistoryRequest& request, Console& console);

// Runs or a history for other tools (ci/export/formats.h).
struct ExportRequest {
  std::string format{};                        // of export_formats()
  std::vector<std::filesystem::path> paths{};  // empty: the database
  std::filesystem::path database{};
  std::filesystem::path checkout{};  // whose commits the runs name
  std::optional<std::filesystem::path> out{};
};
void add_export(CommandLine& line);
baselines::ExitCode export_command(const ExportRequest& request, Console& console);

// Why one benchmark's time changed, kernel by kernel.
struct ExplainRequest {
  std::filesystem::path baseline;
  std::filesystem::path candidate;
  std::string benchmark;
  JudgingRequest rule;  // smallest effect and false discovery rate; its paths are ignored
};
void add_explain(CommandLine& line);
// The whole suite is judged, as the gate does it, and one benchmark is reported. Environments may
// differ, as a changed library is what is to be explained; what differs is printed. Throws where
// neither run has the benchmark, naming those that are near.
// Returns 1 for a regression, 2 where the benchmark could not be compared, else 0.
baselines::ExitCode explain_command(const ExplainRequest& request, Console& console);

// Reports to people what a gate or a history's nights found.
struct NotifyRequest {
  std::optional<std::filesystem::path> gate{};  // of gate --json
  std::optional<std::filesystem::path> db{};    // a history
  std::string github{};                         // "OWNER/REPO"
  std::string label = "fusegate";
  std::size_t most_new = 10;
  bool webhook = false;
  std::string page{};
  double timeout_s = 20;
  bool send = false;  // else it prints what it would send
};
void add_notify(CommandLine& line);
// 0 where all was reported, whatever it is; 2 where a target did not take it. Others still get it.
baselines::ExitCode notify_command(const NotifyRequest& request, Console& console);

// Whether an alarm was true.
struct TriageRequest {
  std::string id{};
  std::string verdict{};  // "true" or "false"
  std::filesystem::path db{};
  std::string note{};
};
void add_triage(CommandLine& line);
baselines::ExitCode triage_command(const TriageRequest& request, Console& console);

// Every kernel's machine code in built programs (ci/codes/program_codes.h).
struct CodesRequest {
  std::vector<std::filesystem::path> programs{};
  std::optional<std::filesystem::path> out{};
};
void add_codes(CommandLine& line);
baselines::ExitCode codes_command(const CodesRequest& request, Console& console);

// What differs between two of them (ci/codes/codes_diff.h).
struct CodesDiffRequest {
  std::filesystem::path base{}, head{};
  std::optional<std::filesystem::path> baseline{};
  std::optional<std::filesystem::path> json{}, markdown{};
};
void add_codes_diff(CommandLine& line);
// 0 where no GPU is needed, 1 where one is, 2 where they cannot be compared.
baselines::ExitCode codes_diff_command(const CodesDiffRequest& request, Console& console);

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

// What a trace holds, by name.
struct TraceTableRequest {
  std::filesystem::path trace{};
  std::string order = "cuda";   // of trace_orders()
  std::size_t limit = 0;        // rows; 0: all
  std::size_t name_width = 55;  // as torch cuts them; 0: whole names
  std::optional<std::filesystem::path> json{};
};
void add_trace_table(CommandLine& line);
baselines::ExitCode trace_table_command(const TraceTableRequest& request, Console& console);

// A trace against what its steps should contain.
struct TraceCheckRequest {
  std::filesystem::path trace{};
  std::filesystem::path expectation{};  // baselines/traces/step_expectation.h
};
void add_trace_check(CommandLine& line);
// 1 where anything is not as expected.
baselines::ExitCode trace_check_command(const TraceCheckRequest& request, Console& console);

// A starting project of one's own kernels (ci/starting/project.h).
struct InitRequest {
  std::filesystem::path folder{};
  bool is_python = false;  // a file of Python kernels in place of C++ sources
};
void add_init(CommandLine& line);
baselines::ExitCode init_command(const InitRequest& request, Console& console);

}  // namespace fusegate::ci
