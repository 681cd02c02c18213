#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/commands/kept_program.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/gate/judging.h"
#include "ci/run/run_record.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::ExitCode;
using Clock = std::chrono::steady_clock;

// A replay that nobody asked for must end soon: no further round starts after so many seconds.
constexpr double kAutoReplayBudgetS = 150;
// Of the minimum, in a first job, which has no calibrated machine and nobody to ask for more. One
// process of six that takes three times as long leaves its benchmark undecided; by 24 a side,
// slowdowns above a CPU's 20 % are ruled out.
constexpr int kMostOfFirstJob = 4;
constexpr baselines::Doubt kBusy = baselines::Doubt::kBusyHost;

struct JobFolders {
  fs::path runs;
  fs::path reports;
};

// What killed jobs left in folders that nobody writes to any more.
void remove_leftovers_below(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) baselines::remove_leftovers(entry->path());
  }
}

JobFolders make_folders(const fs::path& folder) {
  const std::string second = folder_name_of_now();
  std::string started = second;
  fs::create_directories(folder / "runs");
  for (const char* kept : {"runs", "reports"}) remove_leftovers_below(folder / kept);
  // Made and not looked for: another job may look in the same moment.
  for (int n = 2; !fs::create_directory(folder / "runs" / started); ++n) {
    started = fmt::format("{}-{}", second, n);
  }
  const JobFolders folders{folder / "runs" / started, folder / "reports" / started};
  fs::create_directories(folders.reports);
  const fs::path latest = folder / "reports" / (".latest-" + started);
  fs::create_directory_symlink(started, latest);
  fs::rename(latest, folder / "reports" / "latest");
  return folders;
}

std::size_t count_new(const baselines::Run& run, const baselines::Run& baseline) {
  const auto& known = baseline.benchmarks;
  return static_cast<std::size_t>(
      std::ranges::count_if(run.benchmarks, [&](const baselines::BenchmarkSeries& series) {
        return series.failure.empty() &&
               std::ranges::find(known, series.name, &baselines::BenchmarkSeries::name) ==
                   known.end();
      }));
}

// Prints each step of a job with the seconds since it started.
class StepLog {
 public:
  // started_s: how long ago.
  StepLog(double started_s, Console& console)
      : console_(console),
        started_(Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(started_s))) {}

  void operator()(const std::string& text) const {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
    console_.out.print("[{:4d} s] {}\n", passed.count(), text);
    console_.out.flush();
  }

 private:
  Console& console_;
  const Clock::time_point started_;
};

// The first line of what accept prints: "recorded PATH" or "kept PATH".
std::string accepted(const AcceptRequest& request, Console& console) {
  std::ostringstream printed;
  Console aside{printed, console.err};
  accept_command(request, aside);
  const std::string all = printed.str();
  return all.substr(0, all.find('\n'));
}

RunRequest extensible(RunRequest run) {
  if (!run.processes.maximum) run.processes.maximum = kMostOfFirstJob * run.processes.minimum;
  return run;
}

class Job {
 public:
  Job(const JobRequest& request, Console& console)
      : request_(request),
        console_(console),
        folders_(make_folders(request.folder)),
        kept_programs_(request.folder),
        suite_(suite_name(request.measuring.suite)),
        program_(request.program.empty() ? default_bench_program().string() : request.program),
        step_(request.started_s, console) {}

  ExitCode run() {
    // What a job leaves that is killed.
    write_gate_failure(gate_request(), "the job did not come to its end", console_);
    ExitCode verdict = ExitCode::kCouldNotJudge;
    try {
      verdict = request_.base.empty() ? against_baseline() : against_base();
      if (verdict == ExitCode::kNoRegression) take_new_benchmarks();
    } catch (const baselines::InputError& error) {
      write_gate_failure(gate_request(), error.what(), console_);
      // Last, where it is looked for: on a full disk the reports cannot be written either.
      console_.err.print("fusegate: {}\n", error.what());
    }
    step_(
        fmt::format("runs in {}, report in {}", folders_.runs.string(), folders_.reports.string()));
    return verdict;
  }

 private:
  ExitCode against_base() {
    step_("measuring side by side: " + plan_text());
    DuetRequest duet = duet_request();
    duet.base = request_.base;
    return duet_command(duet, console_);
  }

  // By its own program, where that is asked for or at hand; else by its figures.
  ExitCode against_baseline() {
    if (!request_.replay && !kept_programs_.any()) return against_figures();
    ReplayRequest replay{.duet = duet_request(), .checkout = request_.checkout};
    const auto baseline = baseline_to_replay(replay);
    if (!baseline) {
      if (request_.replay) step_("no baseline is stored that could be replayed");
      return against_figures();
    }
    replay.duet.judging.baseline = {*baseline};
    const fs::path kept =
        kept_programs_.path_of(baselines::load_stored_baseline(*baseline).run.provenance);
    if (fs::exists(kept)) {
      replay.duet.base = kept.string();
      if (!request_.replay && !request_.measuring.budget_s) {
        replay.duet.measuring.budget_s = kAutoReplayBudgetS;
      }
    } else if (!request_.replay) {
      return against_figures();
    }
    return against_replay(replay);
  }

  ExitCode against_replay(const ReplayRequest& replay) {
    step_("replaying the baseline: " + plan_text());
    judged_ = folders_.runs / "head";
    return replay_command(replay, console_);
  }

  // Where there are none, the run becomes the baseline, and a second one is judged.
  ExitCode against_figures() {
    if (!request_.require_baseline && no_baseline_of_suite()) return against_first_in_turn();
    RunResult measured = measure(run_request({"first"}));
    if (request_.require_baseline || !measured.all_well || !becomes_first_baseline("first")) {
      return gate("first", measured);
    }
    return gate("second", measure(extensible(run_request({"second"}))));
  }

  // Two runs are measured process by process in turn: on a shared machine two runs made one after
  // the other differed by a third with nothing changed.
  ExitCode against_first_in_turn() {
    RunRequest both = extensible(run_request({"first", "second"}));
    both.is_judged_by_first = true;
    const RunResult measured = measure(both);
    const bool is_recorded = measured.all_well && becomes_first_baseline("first");
    if (!is_recorded) return gate("first", measured);
    // As the interim analyses judged it: of two runs of one session, not by stored figures, for
    // which the session would be unknown.
    return gate("second", measured, {folders_.runs / "first"});
  }

  // baseline: in place of the stored one.
  ExitCode gate(const std::string& run, const RunResult& measured,
                const std::vector<fs::path>& baseline = {}) {
    judged_ = folders_.runs / run;
    GateRequest request = gate_request();
    request.judging.candidate = {*judged_};
    if (!baseline.empty()) request.judging.baseline = baseline;
    step_("gate");
    return gate_measured(request, measured, console_);
  }

  // Nothing gates a benchmark until the baseline has it. One that this machine keeps is recorded
  // again, by all benchmarks: what the run left out as identical would be missing there. Of others
  // the gate's note says how to renew them.
  void take_new_benchmarks() {
    if (!judged_) return;
    const baselines::Run run = baselines::load_run({*judged_});
    const auto found = find_comparable_baseline(request_.judging.stores, run.environment, suite_);
    if (!found || found->path.parent_path().parent_path() != own_store()) return;
    const std::size_t added = count_new(run, found->baseline.run);
    if (added == 0) return;
    const std::string benchmarks = format_count(added, "new benchmark");
    step_(fmt::format("recording the baseline of this machine again, with {}", benchmarks));
    RunRequest renewed = run_request({"renewed"});
    renewed.measuring.measures_all = true;
    if (!measure_programs(renewed, console_).all_well) return;
    record_baseline("renewed", false, "with " + benchmarks);
  }

  // Whether no device at all has one: then this run's will be missing too.
  bool no_baseline_of_suite() const {
    return baselines::baselines_of_suite(request_.judging.stores, suite_).empty();
  }

  bool becomes_first_baseline(const std::string& run) {
    return record_baseline(run, true, "first local run");
  }

  // Forced, because this baseline stays on this machine: uncommitted changes, say, are no reason to
  // have none.
  bool record_baseline(const std::string& name, bool if_missing, const std::string& reason) {
    const fs::path folder = folders_.runs / name;
    AcceptRequest accept{.runs = {folder},
                         .reason = reason,
                         .who = request_.who,
                         .suite = {},
                         .store = own_store(),
                         .stores = request_.judging.stores,
                         .if_missing = if_missing,
                         .force = true};
    const std::string answer = accepted(accept, console_);
    step_("baseline: " + answer);
    if (!answer.starts_with("recorded")) return false;
    const baselines::Run recorded = baselines::load_run({folder});
    kept_programs_.keep(program_, request_.measuring.suite, recorded.provenance);
    if (std::ranges::find(recorded.doubts, kBusy) != recorded.doubts.end()) {
      step_(fmt::format("the baseline is of a busy machine: {}", baselines::doubt_sentence(kBusy)));
    }
    return true;
  }

  RunResult measure(RunRequest run) {
    run.aa = run.out.size() == 1 && run.processes.minimum >= kLeastAaProcesses;
    std::vector<std::string> names;
    for (const fs::path& folder : run.out) names.push_back(folder.filename());
    step_(fmt::format("measuring {}: {}", fmt::join(names, " and "), plan_text()));
    return measure_programs(run, console_);
  }

  DuetRequest duet_request() const {
    const GateRequest gate = gate_request();
    DuetRequest duet{.measuring = request_.measuring,
                     .processes = request_.processes,
                     .judging = gate.judging,
                     .head = program_,
                     .out = folders_.runs,
                     .aa_history = request_.aa_history,
                     .files = gate.files};
    if (!duet.measuring.budget_s) duet.measuring.budget_s = DuetRequest().measuring.budget_s;
    return duet;
  }

  // Each name is a folder of the program's own.
  RunRequest run_request(const std::vector<std::string>& names) const {
    RunRequest run{.measuring = request_.measuring,
                   .processes = request_.processes,
                   .programs = {program_},
                   .aa_history = request_.aa_history};
    run.judging.stores = request_.judging.stores;
    for (const std::string& name : names) run.out.push_back(folders_.runs / name);
    run.measuring.measures_all |= request_.judging.fail_on_host;
    return run;
  }

  GateRequest gate_request() const {
    return {.judging = request_.judging,
            .files = {.json = folders_.reports / "gate.json",
                      .markdown = folders_.reports / "gate.md",
                      .html = folders_.reports / "report.html"}};
  }

  fs::path own_store() const { return request_.folder / "baselines"; }

  std::string plan_text() const {
    return fmt::format("suite {}, {} each", request_.measuring.suite,
                       process_count(request_.processes.minimum));
  }

  const JobRequest& request_;
  Console& console_;
  const JobFolders folders_;
  const KeptPrograms kept_programs_;
  const std::string suite_;
  const std::string program_;
  const StepLog step_;
  std::optional<fs::path> judged_{};  // the candidate's run, by a stored baseline
};

void add_job_measuring(CLI::App& app, JobRequest& request) {
  set_topic(app, kMeasuringTopic);
  app.add_option("--suite", request.measuring.suite, "A suite's name or file")
      ->type_name("SUITE")
      ->capture_default_str();
  add_processes(app, request.processes, "How many processes of each program to run");
  add_max_processes(app, request.processes,
                    "Measure again while benchmarks are undecided or suspicious, up to this many "
                    "processes of each program; by default three times --processes where two "
                    "programs are measured side by side, four times in a first job, and else "
                    "nothing is measured again");
  add_budget(app, request.measuring,
             fmt::format("; unlimited by default, but {:g} where a kept program is replayed "
                         "and {:g} with --base or --replay",
                         kAutoReplayBudgetS, *DuetRequest().measuring.budget_s));
  app.add_flag("--all", request.measuring.measures_all,
               "Measure identical code too, as run and duet do with it");
}

}  // namespace

void add_job(CommandLine& line) {
  auto [app, request] =
      line.add("job",
               "Measure a suite, gate it and keep runs and reports in .fusegate; "
               "exits with 0, 1 or 2 as gate does",
               "fusegate job --program build/my_bench --suite suites/kernels.json", job_command);
  request.folder = kept_folder();
  request.checkout = checkout_root(fs::current_path());
  add_job_measuring(app, request);
  app.add_option(
         "--program", request.program,
         "Benchmark program that is judged; by default the fusegate_bench beside this program")
      ->type_name("PROGRAM");
  CLI::Option* base = app.add_option("--base", request.base,
                                     "Benchmark program to compare with, in place of a stored "
                                     "baseline. Both are measured side by side")
                          ->type_name("PROGRAM");
  set_topic(app, kComparedTopic);
  request.judging.stores = default_stores(fs::current_path());
  app.add_option("--who", request.who,
                 "Who accepts a first baseline; by default git's user, else the login's name")
      ->type_name("NAME")
      ->excludes(base);
  app.add_flag("--require-baseline", request.require_baseline,
               "Exit with 2 if no baseline is stored. By default the run then becomes one, in "
               ".fusegate/baselines, and a second run is compared with it")
      ->excludes(base);
  app.add_flag(
         "--replay", request.replay,
         "If a baseline is stored, measure its own program beside this one and gate by that "
         "(see replay), in place of the stored figures; always done with a baseline that this "
         "command recorded here, as its program is kept")
      ->excludes(base);
  add_controls(app, request.judging);
  add_fail_on(app, request.judging);
  add_allow(app, request.judging);
  set_topic(app, kOutputTopic);
  app.add_option("--started-s", request.started_s, "Printed times count from this many seconds ago")
      ->check(CLI::NonNegativeNumber);
}

ExitCode job_command(const JobRequest& request, Console& console) {
  return Job(request, console).run();
}

}  // namespace fusegate::ci
