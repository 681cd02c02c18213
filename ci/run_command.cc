#include "ci/run_command.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "baselines/error.h"
#include "ci/aa_recording.h"
#include "ci/format.h"
#include "ci/gate_command.h"
#include "ci/layout.h"
#include "ci/measuring_run.h"

namespace fusegate {
namespace {

// Two A/A arms with two invocations each: with fewer nothing could be called.
constexpr int kLeastAaInvocations = 4;

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

MeasuringRequest measuring_request(const RunRequest& request) {
  MeasuringRequest measuring;
  measuring.suite = request.suite;
  const std::vector<std::string> programs = programs_of(request);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    measuring.arms.push_back({request.out[i], programs[i]});
  }
  measuring.invocations = request.invocations;
  measuring.max_invocations = request.max_invocations.value_or(request.invocations);
  measuring.extends_whole_suite = true;
  measuring.is_aa = request.aa;
  measuring.flags = request.flags;
  measuring.timeout_s = request.timeout_s;
  measuring.budget_s = request.budget_s;
  measuring.seed = request.seed;
  measuring.append = request.append;
  return measuring;
}

void check(const RunRequest& request) {
  if (request.aa && request.out.size() != 1) {
    throw InputError("--aa", "", "takes one --out folder; duet has A/A arms of its own");
  }
  if (request.aa && request.invocations < kLeastAaInvocations) {
    throw InputError("--aa", "", fmt::format("needs --invocations {}", kLeastAaInvocations));
  }
  check_aa_history(request.aa_history);
  // Before an hour of measuring, not after it. Which stored baseline fits is known only then.
  if (!request.judging.baseline.empty()) load_baseline(request.judging, Run());
}

std::vector<Verdict> verdicts_on(const JudgingRequest& judging,
                                 const std::vector<MeasuredArm>& arms) {
  std::vector<Verdict> verdicts;
  for (const MeasuredArm& arm : arms) {
    JudgingRequest request = judging;
    request.candidate = {arm.folder()};
    const Report report = judged_report(request);
    const std::vector<Verdict>& own = report.judgement->result.verdicts;
    verdicts.insert(verdicts.end(), own.begin(), own.end());
  }
  return verdicts;
}

void record_aa_of(MeasuredArm& arm, const RunRequest& request, Console& console) {
  const auto findings = record_aa(
      {arm.files_of("a"), arm.files_of("b"), request.judging, request.aa_history}, console);
  if (!findings) return;
  arm.set_aa(*findings);
  fmt::print(console.out, "A/A: {}\n", aa_text(*findings));
}

}  // namespace

ExitCode run_command(const RunRequest& request, Console& console) {
  check(request);
  MeasuringRun run(measuring_request(request), console);
  const RunEnd end = run.measure([&] { return verdicts_on(request.judging, run.arms()); });
  const bool all_well = run.report();
  if (request.aa && end != RunEnd::kInterrupted) {
    record_aa_of(run.arms().front(), request, console);
  }
  return all_well ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
}

}  // namespace fusegate
