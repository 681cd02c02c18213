#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/record/baseline.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"
#include "ci/run/replayed_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::ExitCode;

constexpr const char* kReplayInterrupted = "interrupted before anything was measured";

std::string head_of(const ReplayRequest& request) {
  return request.duet.head.empty() ? default_bench_program().string() : request.duet.head;
}

// Or why there is none.
BuiltProgram base_of(const ReplayRequest& request, const baselines::Provenance& from,
                     Console& console) {
  if (!request.duet.base.empty()) return {.program = request.duet.base};
  if (from.commit.empty()) return {.failure = "the baseline names no commit"};
  if (from.dirty) return {.failure = "the baseline was measured with uncommitted changes"};
  return program_of_commit(request.checkout, from.commit, console);
}

GateRequest gate_of_replay(const DuetRequest& duet) {
  return {.judging = duet.judging, .files = duet.files, .page_title = "fusegate replay"};
}

// The candidate alone is measured, and compared with what is stored.
ExitCode judge_by_figures(const DuetRequest& duet, const std::string& why, Console& console) {
  const std::string note =
      fmt::format("Judging by the stored figures, since the baseline cannot be replayed: {}", why);
  console.err.print("warning: {}\n", note);
  RunRequest run = run_of_head(duet);
  run.judging = duet.judging;
  run.out = {duet.out / "head"};
  run.aa = duet.aa && duet.processes.wanted() >= kLeastAaProcesses && !duet.measuring.plans_budget;
  GateRequest gate = gate_of_replay(duet);
  gate.notes = {note};
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
    write_gate_failure(gate_of_replay(request.duet), kReplayInterrupted, console);
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
  take_shard(duet.measuring);
  try {
    const double asked_s = steady_seconds();
    const auto path = baseline_to_replay(request);
    // A program was asked on the GPU what environment it is in.
    duet.measuring.spent_s = steady_seconds() - asked_s;
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
    write_gate_failure(gate_of_replay(request.duet), error.what(), console);
    throw;
  }
}

}  // namespace fusegate::ci
