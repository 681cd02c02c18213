#include "ci/run_command.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "baselines/error.h"
#include "ci/format.h"
#include "ci/interrupts.h"
#include "ci/invocation.h"
#include "ci/layout.h"
#include "ci/progress_display.h"
#include "ci/run_record.h"
#include "ci/schedule.h"

namespace fusegate {
namespace {

namespace fs = std::filesystem;

std::string now_text() { return format_instant(std::chrono::system_clock::now()); }

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct FailedBenchmark {
  int times = 0;
  std::string failure;  // the first one
};

// One program and the folder that it is measured into.
struct Arm {
  fs::path folder;
  RunRecord record;
  int next_number = 1;
  std::size_t earlier = 0;  // invocations that the folder already held
  std::map<std::string, FailedBenchmark> failed_benchmarks;
};

void check_folders(const RunRequest& request) {
  std::set<fs::path> seen;
  for (const fs::path& folder : request.out) {
    if (!seen.insert(fs::weakly_canonical(folder)).second) {
      throw InputError(folder.string(), "--out", "given twice");
    }
    if (fs::exists(folder) && !fs::is_directory(folder)) {
      throw InputError(folder.string(), "--out", "not a folder");
    }
    if (!request.append && last_invocation_in(folder) > 0) {
      throw InputError(folder.string(), "--out",
                       "already holds invocations; add to them with --append, or name another");
    }
  }
}

std::vector<std::string> programs_of(const RunRequest& request) {
  std::vector<std::string> programs = request.programs;
  if (programs.empty()) programs = {default_bench_program().string()};
  // One program into several folders compares it with itself.
  if (programs.size() == 1) programs.resize(request.out.size(), programs.front());
  if (programs.size() != request.out.size()) {
    throw InputError("--program", "",
                     fmt::format("{} for {}: give as many of one as of the other",
                                 format_count(programs.size(), "program"),
                                 format_count(request.out.size(), "--out folder")));
  }
  return programs;
}

RunRecord started_record(const RunRequest& request, const fs::path& folder) {
  RunRecord record;
  record.started = now_text();
  if (request.append && fs::exists(folder / "run.json")) {
    record = read_run_record(folder);
    if (record.suite != request.suite) {
      throw InputError(
          (folder / "run.json").string(), "suite",
          fmt::format("is \"{}\" and cannot be added to by \"{}\"", record.suite, request.suite));
    }
  }
  record.suite = request.suite;
  record.flags = request.flags;
  record.planned_invocations += request.invocations;
  record.finished = false;
  return record;
}

std::vector<Arm> prepare_arms(const RunRequest& request) {
  check_folders(request);
  const std::vector<std::string> programs = programs_of(request);
  std::vector<Arm> arms;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    Arm arm;
    arm.folder = request.out[i];
    arm.record = started_record(request, arm.folder);
    arm.record.programs = programs;
    arm.record.program = programs[i];
    arm.next_number = last_invocation_in(arm.folder) + 1;
    arm.earlier = arm.record.invocations.size();
    arms.push_back(std::move(arm));
  }
  for (const Arm& arm : arms) write_run_record(arm.folder, arm.record);
  return arms;
}

enum class RunEnd { kAll, kBudget, kInterrupted };

// The run itself: rounds of invocations until all are done, the budget is, or somebody says stop.
class MeasuringRun {
 public:
  MeasuringRun(const RunRequest& request, Console& console)
      : request_(request), console_(console), arms_(prepare_arms(request)) {}

  ExitCode measure() {
    const auto seed = request_.seed ? *request_.seed : std::random_device{}();
    const auto plan = interleave(static_cast<int>(arms_.size()), request_.invocations, seed);
    ProgressDisplay display(console_, static_cast<int>(plan.size()), steady_seconds);
    const double start = steady_seconds();
    RunEnd end = RunEnd::kAll;
    for (std::size_t i = 0; i < plan.size() && end == RunEnd::kAll; ++i) {
      const bool new_round = i > 0 && plan[i].round != plan[i - 1].round;
      if (interrupts_.take() != 0) {
        end = RunEnd::kInterrupted;
      } else if (new_round && request_.budget_s && steady_seconds() - start >= *request_.budget_s) {
        end = RunEnd::kBudget;
      } else if (!run_one(arms_[static_cast<std::size_t>(plan[i].arm)], plan[i].seed, display)) {
        end = RunEnd::kInterrupted;
      }
    }
    for (Arm& arm : arms_) {
      arm.record.finished = end != RunEnd::kInterrupted;
      write_run_record(arm.folder, arm.record);
    }
    return summarise(end);
  }

 private:
  // Whether the run may go on.
  bool run_one(Arm& arm, std::uint64_t seed, ProgressDisplay& display) {
    display.start_invocation(arms_.size() > 1 ? arm.folder.string() : "");
    InvocationRequest invocation;
    invocation.program = arm.record.program;
    invocation.suite = request_.suite;
    invocation.folder = arm.folder;
    invocation.number = arm.next_number++;
    invocation.seed = seed;
    invocation.flags = request_.flags;
    invocation.timeout_s = request_.timeout_s;
    invocation.interrupts = &interrupts_;
    const InvocationOutcome outcome =
        run_invocation(invocation, [&](const ProgressEvent& event) { display.show(event); });
    // A hopeless one is told by the exception that ends the run, and by nothing else.
    if (!outcome.hopeless) display.finish_invocation(outcome.record.failure);
    record(arm, outcome);
    return !outcome.interrupted;
  }

  void record(Arm& arm, const InvocationOutcome& outcome) {
    arm.record.invocations.push_back(outcome.record);
    arm.record.ended = now_text();
    write_run_record(arm.folder, arm.record);
    if (outcome.hopeless) throw InputError(arm.record.program, "", outcome.record.failure);
    for (const auto& [name, failure] : outcome.failed_benchmarks) {
      FailedBenchmark& failed = arm.failed_benchmarks[name];
      if (failed.times++ == 0) failed.failure = failure;
    }
  }

  ExitCode summarise(RunEnd end) const {
    bool all_well = end != RunEnd::kInterrupted;
    for (const Arm& arm : arms_) {
      const std::size_t failures = report_failures(arm);
      if (failures > 0) all_well = false;
      const std::size_t done = arm.record.invocations.size() - arm.earlier;
      if (end == RunEnd::kInterrupted) {
        fmt::print(console_.err, "fusegate: interrupted; {} kept in {}\n",
                   format_count(done - failures, "finished invocation"), arm.folder.string());
      } else {
        fmt::print(console_.out, "{} of suite {} in {}{}\n", format_count(done, "invocation"),
                   request_.suite, arm.folder.string(),
                   end == RunEnd::kBudget ? " (the time budget is used up)" : "");
      }
    }
    return all_well ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
  }

  // How many invocations of this run did not end well.
  std::size_t report_failures(const Arm& arm) const {
    std::size_t failures = 0;
    const std::size_t done = arm.record.invocations.size() - arm.earlier;
    for (std::size_t i = arm.earlier; i < arm.record.invocations.size(); ++i) {
      const InvocationRecord& invocation = arm.record.invocations[i];
      if (invocation.failure.empty()) continue;
      ++failures;
      if (invocation.failure == kInterruptedFailure) continue;  // the last line says so
      fmt::print(console_.err, "fusegate: {}: {}\n", (arm.folder / invocation.file).string(),
                 invocation.failure);
    }
    for (const auto& [name, failed] : arm.failed_benchmarks) {
      fmt::print(console_.err, "fusegate: {}: failed in {} of {}: {}\n", name, failed.times,
                 format_count(done, "invocation"), failed.failure);
    }
    return failures;
  }

  const RunRequest& request_;
  Console& console_;
  Interrupts interrupts_;
  std::vector<Arm> arms_;
};

}  // namespace

ExitCode run_command(const RunRequest& request, Console& console) {
  return MeasuringRun(request, console).measure();
}

}  // namespace fusegate
