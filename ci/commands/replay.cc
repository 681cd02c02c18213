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
  return request.duet.head.empty() ? default_bench_program().string() : request.duet.head;
}

// Why nothing can be built of it; empty where it can be tried.
std::string unbuildable(const baselines::Provenance& from) {
  if (from.commit.empty()) return "the baseline names no commit";
  if (from.dirty) return "the baseline was measured with uncommitted changes";
  return "";
}

BuiltProgram base_of(const ReplayRequest& request, const baselines::Provenance& from,
                     Console& console) {
  if (!request.duet.base.empty()) return {.program = request.duet.base};
  const std::string why = unbuildable(from);
  if (!why.empty()) return {.failure = why};
  return program_of_commit(request.checkout, from.commit, console);
}

GateRequest gate_request(const ReplayRequest& request) {
  return {.judging = request.duet.judging,
          .files = request.duet.files,
          .page_title = "fusegate replay"};
}

// The candidate alone is measured, and compared with what is stored.
ExitCode judge_by_figures(const DuetRequest& duet, const std::string& why, Console& console) {
  const std::string note =
      fmt::format("Judging by the stored figures, since the baseline cannot be replayed: {}", why);
  console.err.print("warning: {}\n", note);
  RunRequest run{.measuring = duet.measuring,
                 .processes = duet.processes,
                 .judging = duet.judging,
                 .out = {duet.out / "head"},
                 .programs = {duet.head},
                 .aa = duet.aa && duet.processes.minimum >= kLeastAaProcesses,
                 .aa_history = duet.aa_history};
  run.measuring.measures_all |= duet.judging.fail_on_host;
  GateRequest gate{.judging = duet.judging,
                   .files = duet.files,
                   .page_title = "fusegate replay",
                   .notes = {note}};
  gate.judging.candidate = run.out;
  return gate_measured(gate, measure_programs(run, console), console);
}

// request: complete, with the baseline's path.
ExitCode replay(ReplayRequest request, Console& console) {
  DuetRequest& duet = request.duet;
  const fs::path path = duet.judging.baseline.front();
  const baselines::Provenance from = baselines::load_stored_baseline(path).run.provenance;
  const std::string commit = from.commit.empty() ? "" : ", commit " + from.commit.substr(0, 12);
  console.out.print("replaying {}{}\n", path.string(), commit);
  console.out.flush();
  const BuiltProgram built = base_of(request, from, console);
  if (built.interrupted) {
    write_gate_failure(gate_request(request), kInterrupted, console);
    return ExitCode::kCouldNotJudge;
  }
  if (!built.failure.empty()) return judge_by_figures(duet, built.failure, console);
  duet.base = built.program;
  duet.judging.replay_of = path;
  return duet_command(duet, console);
}

}  // namespace

std::optional<fs::path> baseline_to_replay(const ReplayRequest& request) {
  const DuetRequest& duet = request.duet;
  if (duet.judging.baseline.size() > 1) {
    throw baselines::InputError("--baseline", "",
                                "given several times; one baseline can be replayed");
  }
  if (!duet.judging.baseline.empty()) return duet.judging.baseline.front();
  const std::string head = head_of(request);
  const ReportedEnvironment here = environment_of(head, duet.measuring.suite, duet.measuring.flags);
  if (!here.failure.empty()) throw baselines::InputError(head, "--environment", here.failure);
  auto found = find_comparable_baseline(duet.judging.stores, here.environment,
                                        suite_name(duet.measuring.suite));
  return found ? std::optional(std::move(found->path)) : std::nullopt;
}

void add_replay(CommandLine& line) {
  auto [app, request] =
      line.add("replay",
               "Measure the stored baseline's own program and this one side by side, and gate this "
               "one by it; exits with 0, 1 or 2 as gate does",
               "fusegate replay --suite pr --program build/my_bench", replay_command);
  DuetRequest& duet = request.duet;
  request.checkout = checkout_root(fs::current_path());
  line.pass_on(app, duet.measuring.flags);
  set_topic(app, kMeasuringTopic);
  app.add_option(
         "--program", duet.head,
         "Benchmark program that is judged; by default the fusegate_bench beside this program")
      ->type_name("PROGRAM");
  app.add_option("--baseline-program", duet.base,
                 "Benchmark program of the baseline, if it was built elsewhere; by default the "
                 "baseline's commit is built, once, into .fusegate/programs in the git checkout")
      ->type_name("PROGRAM");
  set_topic(app, kComparedTopic);
  app.add_option("--baseline", duet.judging.baseline,
                 "Stored baseline to replay; by default the one that a store has for this device "
                 "and suite")
      ->type_name("FILE");
  add_duet_options(app, duet);
  add_age_and_creep(app, duet.judging);
}

ExitCode replay_command(const ReplayRequest& request, Console& console) {
  ReplayRequest complete = request;
  DuetRequest& duet = complete.duet;
  duet.head = head_of(request);
  if (duet.out.empty()) duet.out = new_run_folder();
  try {
    const auto path = baseline_to_replay(request);
    if (!path) {
      throw baselines::InputError(
          duet.head, "",
          fmt::format("no baseline of suite {} is stored for this device, so there is nothing to "
                      "replay; record one with: fusegate accept RUN --reason TEXT",
                      duet.measuring.suite));
    }
    duet.judging.baseline = {*path};
    return replay(complete, console);
  } catch (const baselines::InputError& error) {
    write_gate_failure(gate_request(request), error.what(), console);
    throw;
  }
}

}  // namespace fusegate::ci
