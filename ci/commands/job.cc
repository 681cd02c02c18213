#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/write_lock.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::ExitCode;
using Clock = std::chrono::steady_clock;

// A replay that nobody asked for is to end soon: no further round starts after so many seconds.
constexpr double kUnaskedReplayS = 150;
constexpr baselines::Doubt kBusy = baselines::Doubt::kBusyHost;
// Copying a program takes another job far less.
constexpr std::chrono::seconds kKeeping{60};

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

class Job {
 public:
  Job(const JobRequest& request, Console& console)
      : request_(request),
        console_(console),
        folders_(make_folders(request.folder)),
        started_(Clock::now() - std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(request.started_s))) {}

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
    step(
        fmt::format("runs in {}, report in {}", folders_.runs.string(), folders_.reports.string()));
    return verdict;
  }

 private:
  void step(const std::string& text) {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
    console_.out.print("[{:4d} s] {}\n", passed.count(), text);
    console_.out.flush();
  }

  std::string invocations() const {
    return format_count(static_cast<std::size_t>(request_.invocations), "invocation");
  }

  ExitCode against_base() {
    step(fmt::format("measuring side by side: suite {}, {} a side", request_.suite, invocations()));
    DuetRequest duet;
    fill_duet(duet);
    duet.base = request_.base;
    return duet_command(duet, console_);
  }

  // By its own program, where that is asked for, or where it is at hand.
  ExitCode against_baseline() {
    if (!request_.replay && !fs::exists(kept_programs())) return against_stored();
    ReplayRequest replay;
    fill_duet(replay);
    replay.checkout = request_.checkout;
    const auto baseline = baseline_to_replay(replay);
    if (!baseline) {
      if (request_.replay) step("no baseline is stored that could be replayed");
      return against_stored();
    }
    replay.judging.baseline = {*baseline};
    const fs::path kept = kept_program(baselines::load_stored_baseline(*baseline).run.provenance);
    if (fs::exists(kept)) replay.base = kept.string();
    if (!request_.replay) {
      if (replay.base.empty()) return against_stored();
      if (!request_.budget_s) replay.budget_s = kUnaskedReplayS;
    }
    return against_replay(replay);
  }

  ExitCode against_replay(const ReplayRequest& replay) {
    step(fmt::format("replaying the baseline: suite {}, {} a side", request_.suite, invocations()));
    judged_ = folders_.runs / "head";
    return replay_command(replay, console_);
  }

  ExitCode against_stored() {
    // Two runs are measured process by process in turn: on a shared machine two runs made one after
    // the other differed by a third with nothing changed.
    const bool in_turn = !request_.require_baseline && no_baseline_of_suite();
    Measured measured = in_turn ? measure({"first", "second"}) : measure({"first"});
    fs::path candidate = folders_.runs / "first";
    if (!request_.require_baseline && measured.all_well &&
        recorded_as_baseline(candidate, true, "first local run")) {
      if (!in_turn) measured = measure({"second"});
      candidate = folders_.runs / "second";
    }
    GateRequest gate = gate_request();
    gate.judging.candidate = {candidate};
    judged_ = candidate;
    step("gate");
    return gate_measured(gate, measured, console_);
  }

  // Nothing gates a benchmark until the baseline has it. One that this machine keeps is recorded
  // again, by all benchmarks: what the run left out as identical would be missing there. Of others
  // the gate's note says how to renew them.
  void take_new_benchmarks() {
    if (!judged_) return;
    const baselines::Run run = baselines::load_run({*judged_});
    const auto path =
        find_comparable_baseline(request_.stores, run.environment, suite_name(request_.suite));
    const fs::path local = request_.folder / "baselines";
    if (!path || path->parent_path().parent_path() != local) return;
    const std::size_t added = count_new(run, baselines::read_baseline(*path).run);
    if (added == 0) return;
    const std::string benchmarks = format_count(added, "new benchmark");
    step(fmt::format("the baseline of this machine is recorded again, with {}", benchmarks));
    RunRequest renewed = run_request({"renewed"});
    renewed.measures_all = true;
    if (!measure_run(renewed, console_).all_well) return;
    recorded_as_baseline(folders_.runs / "renewed", false, "with " + benchmarks);
  }

  static std::size_t count_new(const baselines::Run& run, const baselines::Run& baseline) {
    return static_cast<std::size_t>(
        std::ranges::count_if(run.benchmarks, [&](const baselines::BenchmarkSeries& series) {
          return series.failure.empty() &&
                 std::ranges::find(baseline.benchmarks, series.name,
                                   &baselines::BenchmarkSeries::name) == baseline.benchmarks.end();
        }));
  }

  // Whether no device at all has one: then this run's will be missing too.
  bool no_baseline_of_suite() const {
    return baselines::baselines_of_suite(request_.stores, suite_name(request_.suite)).empty();
  }

  std::string program() const {
    return request_.program.empty() ? default_bench_program().string() : request_.program;
  }

  fs::path kept_programs() const { return request_.folder / "programs" / "local"; }

  // Of a run that this machine made its baseline. The commit alone does not name it: it may have
  // had uncommitted changes.
  fs::path kept_program(const baselines::Provenance& from) const {
    return kept_programs() / baselines::slug(from.date + " " + from.commit.substr(0, 12)) /
           "fusegate_bench";
  }

  void keep_program(const baselines::Provenance& from) const {
    const fs::path kept = kept_program(from).parent_path();
    try {
      copy_program(kept);
    } catch (const fs::filesystem_error& error) {
      // Its own text names the program first, which nothing is wrong with.
      throw baselines::InputError(
          kept.string(), "", "cannot keep the baseline's program there: " + error.code().message());
    }
  }

  // Renamed into place at the end, so that what is there is whole.
  void copy_program(const fs::path& kept) const {
    const fs::path own = program();
    if (!fs::is_regular_file(own)) return;  // a command, of which no one file is kept
    const fs::path unfinished = kept_programs() / ".unfinished";
    // Two jobs of one project may measure side by side, each on a GPU of its own.
    const auto lock = baselines::WriteLock::of_file(unfinished, kKeeping);
    fs::remove_all(unfinished);
    fs::create_directories(unfinished);
    fs::copy_file(own, unfinished / "fusegate_bench");
    const fs::path suites = own.parent_path() / "suites";
    if (fs::exists(suites)) fs::copy(suites, unfinished / "suites", fs::copy_options::recursive);
    // One that was named by its file too: a later one may name what this program lacks.
    if (const fs::path suite = request_.suite; fs::is_regular_file(suite)) {
      fs::create_directories(unfinished / "suites");
      fs::copy_file(suite, unfinished / "suites" / (suite.stem().string() + ".json"),
                    fs::copy_options::overwrite_existing);
    }
    fs::remove_all(kept);
    fs::rename(unfinished, kept);
  }

  // What both ways of measuring are told.
  void fill(SuiteRequest& measuring) const {
    measuring.suite = request_.suite;
    measuring.invocations = request_.invocations;
    measuring.processes_given = true;
    measuring.max_processes = request_.max_processes;
    if (request_.budget_s) measuring.budget_s = request_.budget_s;
    measuring.judging.stores = request_.stores;
    measuring.aa_history = request_.aa_history;
    measuring.measures_all = request_.measures_all || request_.fail_on_host;
  }

  void fill_duet(DuetRequest& duet) const {
    fill(duet);
    duet.head = program();
    duet.out = folders_.runs;
    const GateRequest gate = gate_request();
    duet.judging = gate.judging;
    duet.json = gate.json;
    duet.markdown = gate.markdown;
    duet.html = gate.html;
  }

  RunRequest run_request(const std::vector<std::string>& names) const {
    RunRequest run;
    fill(run);
    for (const std::string& name : names) run.out.push_back(folders_.runs / name);
    run.programs = {program()};
    return run;
  }

  Measured measure(const std::vector<std::string>& names) {
    RunRequest run = run_request(names);
    run.aa = names.size() == 1 && request_.invocations >= kLeastAaProcesses;
    step(fmt::format("measuring {}: suite {}, {} each", fmt::join(names, " "), request_.suite,
                     invocations()));
    return measure_run(run, console_);
  }

  // Forced, because this baseline stays on this machine: uncommitted changes, say, are no reason to
  // have none.
  bool recorded_as_baseline(const fs::path& run, bool if_missing, const std::string& reason) {
    AcceptRequest accept;
    accept.runs = {run};
    accept.if_missing = if_missing;
    accept.force = true;
    accept.store = request_.folder / "baselines";
    accept.stores = request_.stores;
    accept.who = request_.who;
    accept.reason = reason;
    std::ostringstream said;
    Console aside{said, console_.err};
    accept_command(accept, aside);
    const std::string answer = said.str();
    step("baseline: " + answer.substr(0, answer.find('\n')));
    if (!answer.starts_with("recorded")) return false;
    const baselines::Run recorded = baselines::load_run({run});
    keep_program(recorded.provenance);
    if (std::ranges::find(recorded.doubts, kBusy) != recorded.doubts.end()) {
      step(fmt::format("the baseline is of a busy machine: {}", baselines::doubt_sentence(kBusy)));
    }
    return true;
  }

  GateRequest gate_request() const {
    GateRequest gate;
    gate.judging.stores = request_.stores;
    gate.judging.fail_on_host = request_.fail_on_host;
    gate.judging.fail_on_changed_kernels = request_.fail_on_changed_kernels;
    gate.judging.allow = request_.allow;
    gate.judging.require_ruled_out = request_.require_ruled_out;
    gate.judging.controls = request_.controls;
    gate.json = folders_.reports / "gate.json";
    gate.markdown = folders_.reports / "gate.md";
    gate.html = folders_.reports / "report.html";
    return gate;
  }

  const JobRequest& request_;
  Console& console_;
  const JobFolders folders_;
  const Clock::time_point started_;
  std::optional<fs::path> judged_{};  // the candidate's run, by a stored baseline
};

void add_job_measuring(CLI::App& app, JobRequest& request) {
  set_topic(app, kMeasuringTopic);
  app.add_option("--suite", request.suite, "A suite's name or file")
      ->type_name("SUITE")
      ->capture_default_str();
  app.add_option("--invocations", request.invocations, "How many processes of each program to run")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option(
         "--max-invocations", request.max_processes,
         "Measure undecided and suspicious benchmarks again, up to this many processes of each "
         "program; by default nothing is measured again, and with --base up to three times "
         "--invocations")
      ->check(CLI::Range(1, 1000));
  app.add_option(
         "--budget-s", request.budget_s,
         "Longest time of the measuring, in seconds: no round starts that would end later, except "
         "to confirm a regression; by default there is no limit, and with --base 600")
      ->check(CLI::PositiveNumber);
  app.add_flag("--all", request.measures_all, "Measure equal work too, as run and duet do with it");
}

}  // namespace

void add_job(CommandLine& line) {
  auto [app, request] =
      line.add("job",
               "Measure a suite, gate it and keep runs and reports in .fusegate; "
               "exits with 0, 1 or 2 as gate does",
               "fusegate job --program build/my_bench --suite suites/kernels.json", job_command);
  request.folder = kept_folder();
  request.stores = default_stores(fs::current_path());
  request.checkout = checkout_root(fs::current_path());
  add_job_measuring(app, request);
  app.add_option(
         "--program", request.program,
         "Benchmark program that is judged; by default the fusegate_bench beside this program")
      ->type_name("PROGRAM");
  CLI::Option* base = app.add_option("--base", request.base,
                                     "Benchmark program to compare with. Both are measured side by "
                                     "side; stored baselines are not "
                                     "compared with")
                          ->type_name("PROGRAM");
  set_topic(app, kComparedTopic);
  app.add_option("--who", request.who,
                 "Who accepts a first baseline; by default git's user, else the login's name")
      ->type_name("NAME")
      ->excludes(base);
  app.add_flag("--require-baseline", request.require_baseline,
               "End with 2 where no baseline is stored. By default the run then becomes one, in "
               ".fusegate/baselines, and a second run is compared with it")
      ->excludes(base);
  app.add_flag(
         "--replay", request.replay,
         "Where a baseline is stored, measure its own program beside this one and gate by "
         "that (see replay), in place of the stored figures; always done with a baseline that "
         "this command recorded here, as its program is kept")
      ->excludes(base);
  add_controls(app, request.controls);
  add_fail_on(app, request.fail_on_host, request.fail_on_changed_kernels);
  add_allow(app, request.allow, request.require_ruled_out);
  set_topic(app, kOutputTopic);
  app.add_option("--started-s", request.started_s, "Printed times count from this many seconds ago")
      ->check(CLI::NonNegativeNumber);
}

ExitCode job_command(const JobRequest& request, Console& console) {
  return Job(request, console).run();
}

}  // namespace fusegate::ci
