#include <fmt/format.h>
#include <fmt/ostream.h>

#include "baselines/io/error.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/judging/aa_recording.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInterrupted = "interrupted before there was anything to judge";

struct Folders {
  fs::path base;
  fs::path base_again;
  fs::path head;
};

Folders folders_of(const DuetRequest& request) {
  const fs::path out = request.out.empty() ? new_run_folder() : request.out;
  return {out / "base", out / "base_again", out / "head"};
}

MeasuringRequest measuring_request(const DuetRequest& request, const Folders& folders) {
  MeasuringRequest measuring{request};
  measuring.arms.push_back({folders.base, request.base});
  // An A/A arm tells of the machine; what is undecided about the head it cannot decide.
  if (request.aa) measuring.arms.push_back({folders.base_again, request.base, false});
  measuring.arms.push_back({folders.head, request.head});
  measuring.invocations = request.invocations;
  measuring.max_invocations = request.max_invocations.value_or(3 * request.invocations);
  measuring.environment =
      keep_choices_environment(request.judging, request.suite, request.fresh_choices);
  return measuring;
}

GateRequest gate_request(const DuetRequest& request, const Folders& folders) {
  GateRequest gate{request.judging, request.json, request.markdown};
  gate.judging.baseline = {folders.base};
  if (request.aa) gate.judging.baseline.push_back(folders.base_again);
  gate.judging.candidate = {folders.head};
  return gate;
}

void record_aa_of(MeasuredArm& head, const DuetRequest& request, const Folders& folders,
                  Console& console) {
  // Whole folders, so that the arms are compared as the gate compares: block by block. What base
  // was extended by has no counterpart in base_again and falls out.
  const auto findings = record_aa(
      {{folders.base}, {folders.base_again}, request.judging, request.aa_history}, console);
  // Into the candidate's record, where the gate and every later report of it look.
  if (findings) head.set_aa(*findings);
}

struct Measured {
  RunEnd end = RunEnd::kAll;
  bool all_well = false;
};

Measured measure(const DuetRequest& request, const Folders& folders, const JudgingRequest& judging,
                 Console& console) {
  check_aa_history(request.aa_history);
  MeasuringRun run(measuring_request(request, folders), console);
  Measured measured;
  measured.end = run.measure([&] { return judged_report(judging).judgement->result.verdicts; });
  measured.all_well = run.report();
  if (request.aa && measured.end != RunEnd::kInterrupted) {
    record_aa_of(run.arms().back(), request, folders, console);
  }
  return measured;
}

// The verdict stands whether or not a page can be drawn of it.
void draw_page(const DuetRequest& request, const JudgingRequest& judging, Console& console) {
  if (!request.html) return;
  try {
    report_command({judging, "fusegate duet", std::nullopt, request.html}, console);
  } catch (const baselines::InputError& error) {
    fmt::print(console.err, "fusegate: no HTML report, but the verdict stands: {}\n", error.what());
  }
}

}  // namespace

void add_duet(CommandLine& line) {
  auto [app, request] = line.add(
      "duet", "Measure two builds side by side and gate one by the other; exits as gate does",
      duet_command);
  app.add_option("--base", request.base, "Benchmark program to compare with")->required();
  app.add_option("--head", request.head, "Benchmark program that is judged")->required();
  add_measuring(app, request);
  app.add_option("--max-invocations", request.max_invocations,
                 "Measure again what is undecided or suspicious, up to so many processes; by "
                 "default three times --invocations")
      ->check(CLI::Range(1, 1000));
  app.add_option("--out", request.out,
                 "Folder that gets the runs base, base_again and head; by default "
                 ".fusegate/runs/TIME in the git checkout");
  app.add_flag_callback(
      "--no-aa", [&aa = request.aa] { aa = false; },
      "Do not measure base a second time, as an A/A arm");
  add_stores(app, request.judging);
  add_rule(app, request.judging);
  app.add_option("--json", request.json, "Write the verdicts as JSON");
  app.add_option("--markdown", request.markdown, "Write them as GitHub Markdown");
  app.add_option("--html", request.html, "Write a report as one self-contained page");
}

baselines::ExitCode duet_command(const DuetRequest& request, Console& console) {
  const Folders folders = folders_of(request);
  const GateRequest gate = gate_request(request, folders);
  Measured measured;
  try {
    measured = measure(request, folders, gate.judging, console);
  } catch (const baselines::InputError& error) {
    write_gate_failure(gate, error.what(), console);
    throw;
  }
  if (measured.end == RunEnd::kInterrupted) {
    write_gate_failure(gate, std::string(kInterrupted), console);
    return baselines::ExitCode::kCouldNotJudge;
  }
  console.out << "\n";
  const baselines::ExitCode verdict = gate_command(gate, console);
  draw_page(request, gate.judging, console);
  const bool passes = verdict == baselines::ExitCode::kNoRegression && measured.all_well;
  return passes || verdict == baselines::ExitCode::kRegression
             ? verdict
             : baselines::ExitCode::kCouldNotJudge;
}

}  // namespace fusegate::ci
