#include <fmt/format.h>

#include "baselines/calibration/file.h"
#include "baselines/io/error.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/on_cards.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"
#include "ci/gate/aa_history.h"
#include "ci/processes/run_record.h"
#include "ci/run/replayed_program.h"

namespace fusegate::ci {
namespace {

// A budget goes into what is judged: A/A comparisons, controls aside, show nothing of it.
bool has_aa(const DuetRequest& request) { return request.aa && !request.measuring.plans_budget; }

MeasuringRequest measuring_request(const DuetRequest& request, const SuitePair& suites) {
  MeasuringRequest measuring{.options = request.measuring};
  measuring.programs.push_back({request.out / "base", request.base, true, suites.base});
  // An A/A comparison shows the machine; what is undecided about the head it cannot decide.
  if (has_aa(request)) {
    measuring.programs.push_back({request.out / "base_again", request.base, false, suites.base});
  }
  measuring.programs.push_back({request.out / "head", request.head, true, suites.head});
  const ProcessCounts& counts = request.processes;
  measuring.processes = counts.wanted();
  measuring.max_processes = counts.maximum.value_or(3 * counts.wanted());
  if (!counts.is_given && !counts.maximum) measuring.processes_of_few = baselines::kFewestProcesses;
  // Code is identified by the device's work, and host times are not.
  measuring.options.measures_all |= request.judging.fail_on_host;
  measuring.min_effect = request.judging.min_effect;
  // A replay shows what the machine did since, also where no code differs.
  measuring.has_record = request.judging.replay_of.has_value();
  if (!request.judging.replay_of) measuring.controls = ControlUse::kSideBySide;
  measuring.may_thin = !request.judging.replay_of;
  measuring.environment = keep_choices_environment(request.judging, request.measuring.suite,
                                                   request.measuring.fresh_choices);
  return measuring;
}

GateRequest gate_request(const DuetRequest& request) {
  GateRequest gate{.judging = request.judging,
                   .files = request.files,
                   .page_title = request.judging.replay_of ? "fusegate replay" : "fusegate duet",
                   .notes = request.notes};
  gate.judging.baseline = {request.out / "base"};
  if (has_aa(request)) gate.judging.baseline.push_back(request.out / "base_again");
  gate.judging.candidate = {request.out / "head"};
  return gate;
}

// Any figures of the suite on this device, which show what a benchmark costs.
std::optional<baselines::Run> stored_figures(const DuetRequest& request,
                                             const baselines::Run& measured) {
  try {
    auto found = find_comparable_baseline(request.judging.stores, measured.environment,
                                          suite_name(request.measuring.suite));
    if (found) return std::move(found->baseline.run);
  } catch (const baselines::InputError&) {
    // Not asked for, and what cannot be read of it is no reason to measure nothing.
  }
  return std::nullopt;
}

// Of the suite's calibration on this device, where one is stored.
std::map<std::string, double> stored_spreads(const DuetRequest& request,
                                             const baselines::Run& measured) {
  const std::string suite = suite_name(request.measuring.suite);
  for (const std::filesystem::path& store : request.judging.stores) {
    const auto path = baselines::calibration_path(store, measured.environment, suite);
    if (std::filesystem::exists(path)) return baselines::read_spreads(path);
  }
  return {};
}

std::vector<ComparedRuns> compared_runs(const DuetRequest& request) {
  const baselines::Run base = baselines::load_run({request.out / "base"});
  std::vector<ComparedRuns> compared{{base, baselines::load_run({request.out / "head"})}};
  if (!request.judging.replay_of) {
    compared.front().earlier = stored_figures(request, base);
    compared.front().spreads = stored_spreads(request, base);
    return compared;
  }
  // Where a library of today picks other kernels than in the stored run, they are measured too.
  JudgingRequest stored;
  stored.baseline = {*request.judging.replay_of};
  if (any_baseline_has_identities(stored, request.measuring.suite)) {
    compared.push_back({baselines::load_stored_baseline(stored.baseline.front()).run, base});
  }
  return compared;
}

void record_aa_of(const DuetRequest& request, Console& console) {
  // Whole folders, so that both are compared as the gate compares: block by block. The extension of
  // base has no counterpart in base_again and drops out.
  const auto findings = record_aa(
      {{request.out / "base"}, {request.out / "base_again"}, request.judging, request.aa_history},
      console);
  if (!findings) return;
  // In the candidate's record, where the gate and every later report of it read it.
  RunRecord head = read_run_record(request.out / "head");
  head.aa = findings;
  write_run_record(request.out / "head", head);
}

// Without the A/A comparison.
RunResult measure_side_by_side(const DuetRequest& request, const SuitePair& suites,
                               Console& console) {
  const JudgingRequest judging = gate_request(request).judging;
  const RunAnalyses analyses{.interim = [&] { return judged(judging).result.verdicts; },
                             .comparisons = [&] { return compared_runs(request); },
                             .stored = stored_part(request.measuring, request.judging)};
  return measure_run(measuring_request(request, suites), analyses, console);
}

RunResult measure_on_cards(const DuetRequest& request, const SuitePair& suites, Console& console) {
  const auto measure_shard = [&](const MeasuringOptions& measuring,
                                 const std::filesystem::path& folder, Console& of_card) {
    DuetRequest shard = request;
    shard.measuring = measuring;
    shard.out = folder;
    return measure_side_by_side(shard, suites, of_card);
  };
  return measure_on_cards({.measuring = request.measuring,
                           .judging = request.judging,
                           .programs = {{request.base, suites.base}, {request.head, suites.head}},
                           .folders = {request.out / "base", request.out / "head"},
                           .out = request.out},
                          measure_shard, console);
}

// Adds to the report's notes where the programs measure different suites.
RunResult measure(const DuetRequest& request, GateRequest& gate, Console& console) {
  check_aa_history(request.aa_history);
  accepted_slowdowns(
      request.judging);  // what is wrong with them is said before an hour of measuring
  const SuitePair suites =
      suites_of(request.measuring.suite, request.base, request.head, request.measuring.flags);
  if (!suites.remark.empty()) {
    console.err.print("{}\n", suites.remark);
    gate.notes.push_back(suites.remark);
  }
  RunResult measured = request.measuring.gpus.empty()
                           ? measure_side_by_side(request, suites, console)
                           : measure_on_cards(request, suites, console);
  if (has_aa(request) && measured.measured_anything && measured.end != RunEnd::kInterrupted) {
    record_aa_of(request, console);
  }
  return measured;
}

}  // namespace

void add_duet(CommandLine& line) {
  auto [app, request] = line.add(
      "duet",
      "Measure two builds side by side and gate one by the other; exits with 0, 1 or 2 as gate "
      "does",
      "fusegate duet --base old/my_bench --head build/my_bench --suite suites/kernels.json",
      duet_command);
  line.pass_on(app, request.measuring.flags);
  set_topic(app, kMeasuringTopic);
  add_gpus(app, request.measuring);
  app.add_option("--base", request.base, "Benchmark program to compare with")
      ->type_name("PROGRAM")
      ->required();
  app.add_option("--head", request.head, "Benchmark program that is judged")
      ->type_name("PROGRAM")
      ->required();
  add_duet_options(app, request);
  for (const char* part : {"--plan", "--only", "--only-from", "--budget-gpu-s", "--resume"}) {
    app.get_option("--gpus")->excludes(app.get_option(part));
  }
}

void add_duet_options(CLI::App& app, DuetRequest& request) {
  add_measuring(app, request.measuring, request.processes);
  add_gpu_budget(app, request.measuring);
  add_only(app, request.measuring.only);
  for (const char* only : {"--only", "--only-from"}) {
    app.get_option(only)->excludes(app.get_option("--plan"));
  }
  app.get_option("--budget-gpu-s")->excludes(app.get_option("--resume"));
  app.get_option("--processes")
      ->description(fmt::format(
          "How many processes of each program to run; {} if at most {} benchmarks differ and the "
          "flag is not given",
          baselines::kFewestProcesses, kFewDiffering));
  add_aa_history(app, request.aa_history);
  app.add_option("--out", request.out,
                 "Folder for the runs, which are called base, base_again and head; by default "
                 ".fusegate/runs/TIME in the git checkout")
      ->type_name("FOLDER");
  add_verdict_files(app, request.files);
  app.add_option("--html", request.files.html, "Write a report as one self-contained page")
      ->type_name("FILE");
  set_topic(app, kMeasuringTopic);
  add_max_processes(
      app, request.processes,
      "Measure undecided and suspicious benchmarks again, up to this many processes of "
      "each program; by default three times --processes");
  app.add_flag_callback(
      "--no-aa", [&aa = request.aa] { aa = false; },
      "Measure base only once. By default it is measured twice and compared with itself (A/A): any "
      "difference found is a false alarm");
  add_stores(app, request.judging);
  add_rule(app, request.judging);
  add_gating(app, request.judging);
}

RunRequest run_of_head(const DuetRequest& duet) {
  RunRequest run{.measuring = duet.measuring,
                 .processes = duet.processes,
                 .programs = {duet.head},
                 .aa_history = duet.aa_history};
  // Code is identified by the device's work, and host times are not.
  run.measuring.measures_all |= duet.judging.fail_on_host;
  return run;
}

baselines::ExitCode duet_command(const DuetRequest& request, Console& console) {
  DuetRequest complete = request;
  if (complete.out.empty()) complete.out = new_run_folder();
  take_shard(complete.measuring);
  GateRequest gate = gate_request(complete);
  RunResult measured;
  try {
    measured = measure(complete, gate, console);
  } catch (const baselines::InputError& error) {
    write_gate_failure(gate, error.what(), console);
    throw;
  }
  return gate_measured(gate, measured, console);
}

}  // namespace fusegate::ci
