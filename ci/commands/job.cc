#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::ExitCode;

// With four and more, a run also tells as two arms how often nothing passes for something.
constexpr int kAaInvocations = 4;

struct Folders {
  fs::path runs;
  fs::path reports;
};

class Job {
 public:
  Job(const JobRequest& request, Console& console)
      : request_(request), console_(console), folders_(make_folders(request.folder)) {}

  ExitCode run() {
    const ExitCode verdict = request_.base.empty() ? against_stored() : against_base();
    step(
        fmt::format("runs in {}, report in {}", folders_.runs.string(), folders_.reports.string()));
    return verdict;
  }

 private:
  static Folders make_folders(const fs::path& folder) {
    const std::string second = new_run_folder().filename();
    std::string started = second;
    for (int n = 2; fs::exists(folder / "runs" / started); ++n) {
      started = fmt::format("{}-{}", second, n);
    }
    const Folders folders{folder / "runs" / started, folder / "reports" / started};
    fs::create_directories(folders.runs);
    fs::create_directories(folders.reports);
    const fs::path latest = folder / "reports" / "latest";
    fs::remove(latest);
    fs::create_directory_symlink(started, latest);
    return folders;
  }

  void step(const std::string& text) {
    const auto passed = std::chrono::steady_clock::now() - started_;
    fmt::print(console_.out, "[{:4d} s] {}\n",
               std::chrono::duration_cast<std::chrono::seconds>(passed).count(), text);
    console_.out.flush();
  }

  ExitCode against_base() {
    step(fmt::format("measuring side by side: suite {}, {} invocations a side", request_.suite,
                     request_.invocations));
    DuetRequest duet;
    duet.suite = request_.suite;
    duet.invocations = request_.invocations;
    duet.max_invocations = request_.max_invocations;
    if (request_.budget_s) duet.budget_s = *request_.budget_s;
    duet.base = request_.base;
    duet.head = program();
    duet.out = folders_.runs;
    duet.judging.stores = request_.stores;
    duet.aa_history = request_.aa_history;
    duet.json = folders_.reports / "gate.json";
    duet.markdown = folders_.reports / "gate.md";
    duet.html = folders_.reports / "report.html";
    return duet_command(duet, console_);
  }

  ExitCode against_stored() {
    // Two runs are measured process by process in turn: on a shared machine two runs made one after
    // the other differed by a third with nothing changed.
    const bool in_turn = !request_.require_baseline && no_baseline_of_suite();
    bool all_well = in_turn ? measure({"first", "second"}) : measure({"first"});
    fs::path candidate = folders_.runs / "first";
    if (!request_.require_baseline && all_well && recorded_as_first_baseline(candidate)) {
      if (!in_turn) all_well = measure({"second"});
      candidate = folders_.runs / "second";
    }
    // What was measured is judged all the same, so that the report names what failed; but it never
    // passes.
    if (!all_well) {
      fmt::print(console_.err,
                 "warning: not every process ended well; judging what was measured, in {}\n",
                 folders_.runs.string());
    }
    const ExitCode verdict = gate_and_report(candidate);
    return verdict == ExitCode::kNoRegression && !all_well ? ExitCode::kCouldNotJudge : verdict;
  }

  // Whether no device at all has one: then this run's will be missing too.
  bool no_baseline_of_suite() const {
    return std::none_of(request_.stores.begin(), request_.stores.end(), [&](const fs::path& store) {
      std::error_code missing;
      return std::any_of(fs::directory_iterator(store, missing), fs::directory_iterator(),
                         [&](const fs::directory_entry& device) {
                           return fs::exists(device.path() / (request_.suite + ".json"));
                         });
    });
  }

  std::string program() const {
    return request_.program.empty() ? default_bench_program().string() : request_.program;
  }

  // Whether every process ended well.
  bool measure(const std::vector<std::string>& names) {
    RunRequest run;
    for (const std::string& name : names) run.out.push_back(folders_.runs / name);
    run.suite = request_.suite;
    run.invocations = request_.invocations;
    run.max_invocations = request_.max_invocations;
    run.budget_s = request_.budget_s;
    run.programs = {program()};
    run.aa = names.size() == 1 && request_.invocations >= kAaInvocations;
    run.judging.stores = request_.stores;
    run.aa_history = request_.aa_history;
    step(fmt::format("measuring {}: suite {}, {} invocations each", fmt::join(names, " "),
                     request_.suite, request_.invocations));
    return run_command(run, console_) == ExitCode::kNoRegression;
  }

  // Forced, because this baseline stays on this machine: uncommitted changes, say, are no reason to
  // have none.
  bool recorded_as_first_baseline(const fs::path& run) {
    AcceptRequest accept;
    accept.runs = {run};
    accept.if_missing = true;
    accept.force = true;
    accept.store = request_.folder / "baselines";
    accept.stores = request_.stores;
    accept.who = request_.who;
    accept.reason = "first local run";
    std::ostringstream said;
    Console aside{said, console_.err};
    accept_command(accept, aside);
    std::string answer = said.str();
    answer.pop_back();  // the line's end
    step("baseline: " + answer);
    return answer.starts_with("recorded");
  }

  ExitCode gate_and_report(const fs::path& candidate) {
    step("gate");
    JudgingRequest judging;
    judging.candidate = {candidate};
    judging.stores = request_.stores;
    ExitCode verdict = ExitCode::kCouldNotJudge;
    try {
      verdict = gate_command(
          {judging, folders_.reports / "gate.json", folders_.reports / "gate.md"}, console_);
    } catch (const baselines::InputError& error) {
      fmt::print(console_.err, "fusegate: {}\n", error.what());
    }
    // The verdict stands whether or not a page can be drawn of it.
    try {
      report_command({judging, "fusegate report", std::nullopt, folders_.reports / "report.html"},
                     console_);
    } catch (const baselines::InputError& error) {
      fmt::print(console_.err, "fusegate: no HTML report, but the verdict stands: {}\n",
                 error.what());
    }
    return verdict;
  }

  const JobRequest& request_;
  Console& console_;
  const Folders folders_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace

void add_job(CommandLine& line) {
  auto [app, request] = line.add(
      "job", "Measure a suite, gate it, and keep runs and reports in .fusegate: 0, 1, 2 as gate",
      job_command);
  app.add_option("--suite", request.suite, "A suite's name")->capture_default_str();
  app.add_option("--invocations", request.invocations, "Processes a run, or a side")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--max-invocations", request.max_invocations,
                 "Measure what is undecided or suspicious again, up to so many processes")
      ->check(CLI::Range(1, 1000));
  app.add_option("--budget-s", request.budget_s, "Seconds for all of that")
      ->check(CLI::PositiveNumber);
  app.add_option("--program", request.program,
                 "Benchmark program that is judged; by default the fusegate_bench beside this one");
  app.add_option(
      "--base", request.base,
      "Benchmark program to measure side by side with it, in place of a stored baseline");
  app.add_option("--who", request.who, "Who accepts a first baseline; by default as for accept");
  app.add_flag("--require-baseline", request.require_baseline,
               "End with 2 where no baseline is stored; by default the first run becomes a local "
               "one, in .fusegate/baselines, and a second is compared with it");
  request.stores = default_stores(fs::current_path());
}

ExitCode job_command(const JobRequest& request, Console& console) {
  return Job(request, console).run();
}

}  // namespace fusegate::ci
