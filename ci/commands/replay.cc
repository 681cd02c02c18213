#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/record/baseline.h"
#include "ci/commands/command_line.h"
#include "ci/console/layout.h"
#include "ci/run/replayed_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::ExitCode;

constexpr const char* kInterrupted = "interrupted before anything was measured";

std::string head_of(const ReplayRequest& request) {
  return request.head.empty() ? default_bench_program().string() : request.head;
}

// Why nothing can be built of it; empty where it can be tried.
std::string unbuildable(const baselines::Provenance& from) {
  if (from.commit.empty()) return "the baseline names no commit";
  if (from.dirty) return "the baseline was measured with uncommitted changes";
  return "";
}

BuiltProgram base_of(const ReplayRequest& request, const baselines::Provenance& from,
                     Console& console) {
  if (!request.base.empty()) return {.program = request.base};
  const std::string why = unbuildable(from);
  if (!why.empty()) return {.failure = why};
  return program_of_commit(request.checkout, from.commit, console);
}

GateRequest gate_request(const ReplayRequest& request) {
  return {request.judging, request.json, request.markdown, request.html, "fusegate replay"};
}

// The candidate alone is measured, and compared with what is stored.
ExitCode judge_by_figures(const ReplayRequest& request, const std::string& why, Console& console) {
  const std::string note = fmt::format(
      "The baseline's program cannot be replayed, so that the stored figures judge: {}", why);
  console.err.print("warning: {}\n", note);
  RunRequest run;
  static_cast<SuiteRequest&>(run) = request;
  run.measures_all = request.measures_all || request.judging.fail_on_host;
  run.out = {request.out / "head"};
  run.programs = {request.head};
  run.aa = request.aa && request.invocations >= kLeastAaProcesses;
  GateRequest gate = gate_request(request);
  gate.judging.candidate = run.out;
  gate.notes = {note};
  return gate_measured(gate, measure_run(run, console), console);
}

// request: complete, with the baseline's path.
ExitCode replay(ReplayRequest request, Console& console) {
  const fs::path path = request.judging.baseline.front();
  const baselines::Provenance from = baselines::load_stored_baseline(path).run.provenance;
  const std::string commit = from.commit.empty() ? "" : ", commit " + from.commit.substr(0, 12);
  console.out.print("replaying {}{}\n", path.string(), commit);
  console.out.flush();
  const BuiltProgram built = base_of(request, from, console);
  if (built.interrupted) {
    write_gate_failure(gate_request(request), kInterrupted, console);
    return ExitCode::kCouldNotJudge;
  }
  if (!built.failure.empty()) return judge_by_figures(request, built.failure, console);
  request.base = built.program;
  request.judging.replay_of = path;
  return duet_command(request, console);
}

}  // namespace

std::optional<fs::path> baseline_to_replay(const ReplayRequest& request) {
  if (request.judging.baseline.size() > 1) {
    throw baselines::InputError("--baseline", "", "one stored baseline can be replayed");
  }
  if (!request.judging.baseline.empty()) return request.judging.baseline.front();
  const std::string head = head_of(request);
  const ProgramAnswer answer = ask_program(head, request.suite, request.flags);
  if (!answer.failure.empty()) throw baselines::InputError(head, "--environment", answer.failure);
  return find_comparable_baseline(request.judging.stores, answer.environment,
                                  suite_name(request.suite));
}

void add_replay(CommandLine& line) {
  auto [app, request] =
      line.add("replay",
               "Measure the stored baseline's own program and this one side by side, and gate this "
               "one by it; exits with 0, 1 or 2 as gate does",
               "fusegate replay --suite pr --program build/my_bench", replay_command);
  request.checkout = checkout_root(fs::current_path());
  set_topic(app, kMeasuringTopic);
  app.add_option(
         "--program", request.head,
         "Benchmark program that is judged; by default the fusegate_bench beside this program")
      ->type_name("PROGRAM");
  app.add_option("--baseline-program", request.base,
                 "Benchmark program of the baseline, where it was built elsewhere; by default the "
                 "baseline's commit is built, once, into .fusegate/programs in the git checkout")
      ->type_name("PROGRAM");
  set_topic(app, kComparedTopic);
  app.add_option("--baseline", request.judging.baseline,
                 "Stored baseline to replay; by default the one that a store has for this device "
                 "and suite")
      ->type_name("FILE");
  add_duet_options(app, request);
  add_age_and_creep(app, request.judging);
}

ExitCode replay_command(const ReplayRequest& request, Console& console) {
  ReplayRequest complete = request;
  complete.head = head_of(request);
  if (complete.out.empty()) complete.out = new_run_folder();
  try {
    const auto path = baseline_to_replay(request);
    if (!path) {
      throw baselines::InputError(
          complete.head, "",
          fmt::format("no baseline of suite {} is stored for this device, so there is nothing to "
                      "replay; record one with: fusegate accept RUN --reason TEXT",
                      request.suite));
    }
    complete.judging.baseline = {*path};
    return replay(complete, console);
  } catch (const baselines::InputError& error) {
    write_gate_failure(gate_request(request), error.what(), console);
    throw;
  }
}

}  // namespace fusegate::ci
