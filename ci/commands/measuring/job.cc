#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/kept_program.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/gate/judging.h"
#include "ci/processes/run_record.h"

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
constexpr baselines::Warning kBusy = baselines::Warning::kBusyHost;

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
  const auto is_new = [&](const baselines::BenchmarkSeries& series) {
    return series.failure.empty() &&
           std::ranges::find(baseline.benchmarks, series.name, &baselines::BenchmarkSeries::name) ==
               baseline.benchmarks.end();
  };
  return static_cast<std::size_t>(std::ranges::count_if(run.benchmarks, is_new));
}

// Says what is judged, and where its runs and verdicts go.
JobRequest completed(JobRequest request, const JobFolders& folders) {
  DuetRequest& duet = request.duet;
  if (duet.head.empty()) duet.head = default_bench_program().string();
  duet.out = folders.runs;
  duet.files = {.json = folders.reports / "gate.json",
                .markdown = folders.reports / "gate.md",
                .html = folders.reports / "report.html"};
  return request;
}

GateRequest gate_of_job(const DuetRequest& duet) {
  return {.judging = duet.judging, .files = duet.files};
}

DuetRequest duet_request(DuetRequest duet) {
  if (!duet.measuring.budget_s) duet.measuring.budget_s = DuetRequest().measuring.budget_s;
  return duet;
}

// Each name is a folder of the program's own.
RunRequest run_request(const DuetRequest& duet, const std::vector<std::string>& names) {
  RunRequest run = run_of_head(duet);
  run.judging.stores = duet.judging.stores;
  for (const std::string& name : names) run.out.push_back(duet.out / name);
  return run;
}

RunRequest extensible(RunRequest run) {
  if (!run.processes.maximum) run.processes.maximum = kMostOfFirstJob * run.processes.wanted();
  return run;
}

class Job {
 public:
  Job(const JobRequest& request, Console& console)
      : console_(console),
        folders_(make_folders(request.folder)),
        request_(completed(request, folders_)),
        kept_programs_(request.folder),
        suite_(suite_name(request.duet.measuring.suite)) {}

  ExitCode run() {
    const GateRequest gate = gate_of_job(request_.duet);
    // What a job leaves that is killed.
    write_gate_failure(gate, "the job did not come to its end", console_);
    ExitCode verdict = ExitCode::kCouldNotJudge;
    try {
      verdict = request_.duet.base.empty() ? against_baseline() : against_base();
      if (verdict == ExitCode::kNoRegression) take_new_benchmarks();
    } catch (const baselines::InputError& error) {
      write_gate_failure(gate, error.what(), console_);
      // Last, where it is looked for: on a full disk the reports cannot be written either.
      console_.err.print("fusegate: {}\n", error.what());
    }
    step(
        fmt::format("runs in {}, report in {}", folders_.runs.string(), folders_.reports.string()));
    return verdict;
  }

 private:
  ExitCode against_base() {
    step("measuring side by side: " + plan_text());
    return duet_command(duet_request(request_.duet), console_);
  }

  ExitCode against_baseline() {
    if (const auto replay = replay_request()) {
      step("replaying the baseline: " + plan_text());
      judged_ = folders_.runs / "head";
      return replay_command(*replay, console_);
    }
    // Where no device at all has a baseline, this run's will be missing too.
    const bool is_first =
        !request_.require_baseline &&
        baselines::baselines_of_suite(request_.duet.judging.stores, suite_).empty();
    return is_first ? against_first_in_turn() : against_figures();
  }

  // Of the baseline's own program, where that is asked for or at hand; else nothing.
  std::optional<ReplayRequest> replay_request() {
    if (!request_.replay && !kept_programs_.any()) return std::nullopt;
    ReplayRequest replay{.duet = duet_request(request_.duet), .checkout = request_.checkout};
    const auto baseline = baseline_to_replay(replay);
    if (!baseline) {
      if (request_.replay) step("no baseline is stored that could be replayed");
      return std::nullopt;
    }
    replay.duet.judging.baseline = {*baseline};
    const fs::path kept =
        kept_programs_.path_of(baselines::load_stored_baseline(*baseline).run.provenance);
    if (fs::exists(kept)) {
      replay.duet.base = kept.string();
      if (!request_.replay && !request_.duet.measuring.budget_s) {
        replay.duet.measuring.budget_s = kAutoReplayBudgetS;
      }
    } else if (!request_.replay) {
      return std::nullopt;
    }
    return replay;
  }

  // Where this environment has none, the run becomes the baseline, and a second one is judged.
  ExitCode against_figures() {
    const RunResult measured = measure(run_request(request_.duet, {"first"}));
    if (request_.require_baseline || !becomes_baseline(measured)) return gate("first", measured);
    return gate("second", measure(extensible(run_request(request_.duet, {"second"}))));
  }

  // Two runs are measured process by process in turn: on a shared machine two runs made one after
  // the other differed by a third with nothing changed.
  ExitCode against_first_in_turn() {
    RunRequest both = extensible(run_request(request_.duet, {"first", "second"}));
    both.is_judged_by_first = true;
    const RunResult measured = measure(both);
    if (!becomes_baseline(measured)) return gate("first", measured);
    // As the interim analyses judged it: of two runs of one session, not by stored figures, for
    // which the session would be unknown.
    return gate("second", measured, {folders_.runs / "first"});
  }

  RunResult measure(RunRequest run) {
    run.aa = run.out.size() == 1 && run.processes.wanted() >= kLeastAaProcesses &&
             !run.measuring.plans_budget;
    std::vector<std::string> names;
    for (const fs::path& folder : run.out) names.push_back(folder.filename());
    step(fmt::format("measuring {}: {}", fmt::join(names, " and "), plan_text()));
    return measure_programs(run, console_);
  }

  // baseline: in place of the stored one.
  ExitCode gate(const std::string& run, const RunResult& measured,
                const std::vector<fs::path>& baseline = {}) {
    judged_ = folders_.runs / run;
    GateRequest request = gate_of_job(request_.duet);
    request.judging.candidate = {*judged_};
    request.judging.baseline = baseline;
    step("gate");
    return gate_measured(request, measured, console_);
  }

  // Nothing gates a benchmark until the baseline has it. One that this machine keeps is recorded
  // again, by all benchmarks: what the run left out as identical would be missing there. Of others
  // the gate's note says how to renew them.
  void take_new_benchmarks() {
    if (!judged_) return;
    const baselines::Run run = baselines::load_run({*judged_});
    const auto found =
        find_comparable_baseline(request_.duet.judging.stores, run.environment, suite_);
    if (!found || found->path.parent_path().parent_path() != own_store()) return;
    const std::size_t added = count_new(run, found->baseline.run);
    if (added == 0) return;
    const std::string benchmarks = format_count(added, "new benchmark");
    step(fmt::format("recording the baseline of this machine again, with {}", benchmarks));
    RunRequest renewed = run_request(request_.duet, {"renewed"});
    renewed.measuring.measures_all = true;
    if (!measure_programs(renewed, console_).all_well) return;
    record_baseline("renewed", false, "with " + benchmarks);
  }

  // The run "first".
  bool becomes_baseline(const RunResult& measured) {
    return measured.all_well && record_baseline("first", true, "first local run");
  }

  // Forced, because this baseline stays on this machine: uncommitted changes, say, are no reason to
  // have none.
  bool record_baseline(const std::string& name, bool if_missing, const std::string& reason) {
    const fs::path folder = folders_.runs / name;
    std::ostringstream printed;
    Console aside{printed, console_.err};
    accept_command({.runs = {folder},
                    .reason = reason,
                    .who = request_.who,
                    .store = own_store(),
                    .stores = request_.duet.judging.stores,
                    .if_missing = if_missing,
                    .force = true},
                   aside);
    const std::string all = printed.str();
    step("baseline: " + all.substr(0, all.find('\n')));  // "recorded PATH" or "kept PATH"
    if (!all.starts_with("recorded")) return false;
    const baselines::Run recorded = baselines::load_run({folder});
    kept_programs_.keep(request_.duet.head, request_.duet.measuring.suite, recorded.provenance);
    if (std::ranges::find(recorded.warnings, kBusy) != recorded.warnings.end()) {
      step(
          fmt::format("the baseline is of a busy machine: {}", baselines::warning_sentence(kBusy)));
    }
    return true;
  }

  // Prints it with the seconds since the job started.
  void step(const std::string& text) const {
    const std::chrono::duration<double> passed = Clock::now() - started_;
    console_.out.print("[{:4d} s] {}\n", static_cast<long>(request_.started_s + passed.count()),
                       text);
    console_.out.flush();
  }

  fs::path own_store() const { return request_.folder / "baselines"; }

  std::string plan_text() const {
    return fmt::format("suite {}, {} each", request_.duet.measuring.suite,
                       process_count(request_.duet.processes.wanted()));
  }

  Console& console_;
  const Clock::time_point started_ = Clock::now();
  const JobFolders folders_;
  const JobRequest request_;
  const KeptPrograms kept_programs_;
  const std::string suite_;
  std::optional<fs::path> judged_{};  // the candidate's run, by a stored baseline
};

void add_job_measuring(CLI::App& app, JobRequest& request) {
  set_topic(app, kMeasuringTopic);
  app.add_option("--suite", request.duet.measuring.suite, "A suite's name or file")
      ->type_name("SUITE")
      ->capture_default_str();
  add_processes(app, request.duet.processes, "How many processes of each program to run");
  add_max_processes(app, request.duet.processes,
                    "Measure again while benchmarks are undecided or suspicious, up to this many "
                    "processes of each program; by default three times --processes where two "
                    "programs are measured side by side, four times in a first job, and else "
                    "nothing is measured again");
  add_budget(app, request.duet.measuring,
             fmt::format("; unlimited by default, but {:g} where a kept program is replayed "
                         "and {:g} with --base or --replay",
                         kAutoReplayBudgetS, *DuetRequest().measuring.budget_s));
  add_gpu_budget(app, request.duet.measuring);
  add_only(app, request.duet.measuring.only);
  app.add_flag("--all", request.duet.measuring.measures_all,
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
         "--program", request.duet.head,
         "Benchmark program that is judged; by default the fusegate_bench beside this program")
      ->type_name("PROGRAM");
  CLI::Option* base = app.add_option("--base", request.duet.base,
                                     "Benchmark program to compare with, in place of a stored "
                                     "baseline. Both are measured side by side")
                          ->type_name("PROGRAM");
  set_topic(app, kComparedTopic);
  request.duet.judging.stores = default_stores(fs::current_path());
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
  add_gating(app, request.duet.judging);
  set_topic(app, kOutputTopic);
  app.add_option("--started-s", request.started_s, "Printed times count from this many seconds ago")
      ->check(CLI::NonNegativeNumber);
}

ExitCode job_command(const JobRequest& request, Console& console) {
  return Job(request, console).run();
}

}  // namespace fusegate::ci
