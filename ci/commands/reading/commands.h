// The commands of `fusegate` that read what was measured: what each takes, and what it does by
// default. A command's own file adds its flags to the command line, calls, and prints.
//
// Every command throws InputError for bad input, which main prints and ends with 2 for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"
#include "ci/gate/judging.h"
#include "ci/report/report.h"

namespace fusegate::ci {

class CommandLine;

// Where a gate's verdicts go, besides the terminal.
struct GateFiles {
  std::optional<std::filesystem::path> json{};
  std::optional<std::filesystem::path> markdown{};
  std::optional<std::filesystem::path> html{};  // a report's page, for duet and job
};

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
  bool add = false;                             // keep what is stored of other cards
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

}  // namespace fusegate::ci
