#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/judging/aa_recording.h"
#include "ci/run/replayed_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

struct Folders {
  fs::path base;
  fs::path base_again;
  fs::path head;
};

Folders folders_of(const DuetRequest& request) {
  const fs::path out = request.out.empty() ? new_run_folder() : request.out;
  return {out / "base", out / "base_again", out / "head"};
}

MeasuringRequest measuring_request(const DuetRequest& request, const Folders& folders,
                                   const SuitePair& suites) {
  MeasuringRequest measuring{request};
  measuring.arms.push_back({folders.base, request.base, true, suites.base});
  // An A/A arm tells of the machine; what is undecided about the head it cannot decide.
  if (request.aa) measuring.arms.push_back({folders.base_again, request.base, false, suites.base});
  measuring.arms.push_back({folders.head, request.head, true, suites.head});
  measuring.invocations = request.invocations;
  measuring.max_processes = request.max_processes.value_or(3 * request.invocations);
  if (!request.processes_given && !request.max_processes) {
    measuring.processes_of_few = baselines::kFewestProcesses;
  }
  // Identity is of the device's work.
  measuring.measures_all = request.measures_all || request.judging.fail_on_host;
  measuring.min_effect = request.judging.min_effect;
  // A replay is to tell what the machine did since, also where no code differs.
  measuring.has_record = request.judging.replay_of.has_value();
  if (!request.judging.replay_of) measuring.controls = ControlUse::kSideBySide;
  measuring.environment =
      keep_choices_environment(request.judging, request.suite, request.fresh_choices);
  return measuring;
}

GateRequest gate_request(const DuetRequest& request, const Folders& folders) {
  GateRequest gate{request.judging,
                   request.json,
                   request.markdown,
                   request.html,
                   request.judging.replay_of ? "fusegate replay" : "fusegate duet",
                   request.notes};
  gate.judging.baseline = {folders.base};
  if (request.aa) gate.judging.baseline.push_back(folders.base_again);
  gate.judging.candidate = {folders.head};
  return gate;
}

// Any figures of the suite on this device, which tell what a benchmark costs.
std::optional<baselines::Run> stored_figures(const DuetRequest& request,
                                             const baselines::Run& measured) {
  try {
    const auto path = find_comparable_baseline(request.judging.stores, measured.environment,
                                               suite_name(request.suite));
    if (path) return baselines::read_baseline(*path).run;
  } catch (const baselines::InputError&) {
    // Not asked for, and what cannot be read of it is no reason to measure nothing.
  }
  return std::nullopt;
}

std::vector<ComparedRuns> compared_runs(const DuetRequest& request, const Folders& folders) {
  const baselines::Run base = baselines::load_run({folders.base});
  std::vector<ComparedRuns> compared{{base, baselines::load_run({folders.head})}};
  if (!request.judging.replay_of) {
    compared.front().earlier = stored_figures(request, base);
    return compared;
  }
  // What a library of today picks otherwise than the stored run's is to be told of, too.
  JudgingRequest stored;
  stored.baseline = {*request.judging.replay_of};
  if (any_baseline_tells_work(stored, request.suite)) {
    compared.push_back({baselines::load_stored_baseline(stored.baseline.front()).run, base});
  }
  return compared;
}

void record_aa_of(ProgramRun& head, const DuetRequest& request, const Folders& folders,
                  Console& console) {
  // Whole folders, so that the arms are compared as the gate compares: block by block. What base
  // was extended by has no counterpart in base_again and falls out.
  const auto findings = record_aa(
      {{folders.base}, {folders.base_again}, request.judging, request.aa_history}, console);
  // Into the candidate's record, where the gate and every later report of it look.
  if (findings) head.set_aa(*findings);
}

// Adds to the report's notes where the programs measure other suites.
Measured measure(const DuetRequest& request, const Folders& folders, GateRequest& gate,
                 Console& console) {
  check_aa_history(request.aa_history);
  const SuitePair suites = suites_of(request.suite, request.base, request.head, request.flags);
  if (!suites.remark.empty()) {
    console.err.print("{}\n", suites.remark);
    gate.notes.push_back(suites.remark);
  }
  MeasuringRun run(measuring_request(request, folders, suites), console);
  Measured measured;
  measured.end = run.measure([&] { return judged_report(gate.judging).judgement->result.verdicts; },
                             [&] { return compared_runs(request, folders); });
  measured.all_well = run.report();
  if (request.aa && run.measures_anything() && measured.end != RunEnd::kInterrupted) {
    record_aa_of(run.arms().back(), request, folders, console);
  }
  return measured;
}

}  // namespace

void add_duet(CommandLine& line) {
  auto [app, request] = line.add(
      "duet",
      "Measure two builds side by side and gate one by the other; exits "
      "with 0, 1 or 2 as gate does",
      "fusegate duet --base old/my_bench --head build/my_bench --suite suites/kernels.json",
      duet_command);
  set_topic(app, kMeasuringTopic);
  app.add_option("--base", request.base, "Benchmark program to compare with")
      ->type_name("PROGRAM")
      ->required();
  app.add_option("--head", request.head, "Benchmark program that is judged")
      ->type_name("PROGRAM")
      ->required();
  add_duet_options(app, request);
}

void add_duet_options(CLI::App& app, DuetRequest& request) {
  add_measuring(app, request);
  app.get_option("--invocations")
      ->description(
          fmt::format("How many processes of each program to run; {} where at most {} benchmarks "
                      "differ and nothing is given",
                      baselines::kFewestProcesses, kFewDiffering));
  app.add_option("--out", request.out,
                 "Folder for the runs, which are called base, base_again and head; by default "
                 ".fusegate/runs/TIME in the git checkout")
      ->type_name("FOLDER");
  app.add_option("--json", request.json, "Write the verdicts there, as JSON")->type_name("FILE");
  app.add_option("--markdown", request.markdown, "Write them there, as GitHub Markdown")
      ->type_name("FILE");
  app.add_option("--html", request.html, "Write a report there, as one self-contained page")
      ->type_name("FILE");
  set_topic(app, kMeasuringTopic);
  app.add_option(
         "--max-invocations", request.max_processes,
         "Measure undecided and suspicious benchmarks again, up to this many processes of each "
         "program; by default three times --invocations")
      ->check(CLI::Range(1, 1000));
  app.add_flag_callback(
      "--no-aa", [&aa = request.aa] { aa = false; },
      "Measure base once only. By default it is measured twice and compared with itself (A/A): "
      "any difference found there is a false alarm");
  add_stores(app, request.judging);
  add_rule(app, request.judging);
  add_controls(app, request.judging.controls);
  add_fail_on(app, request.judging.fail_on_host, request.judging.fail_on_changed_kernels);
  add_allow(app, request.judging.allow, request.judging.require_ruled_out);
}

baselines::ExitCode duet_command(const DuetRequest& request, Console& console) {
  const Folders folders = folders_of(request);
  GateRequest gate = gate_request(request, folders);
  Measured measured;
  try {
    measured = measure(request, folders, gate, console);
  } catch (const baselines::InputError& error) {
    write_gate_failure(gate, error.what(), console);
    throw;
  }
  return gate_measured(gate, measured, console);
}

}  // namespace fusegate::ci
