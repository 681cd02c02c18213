#include <fmt/format.h>

#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/commands/command_line.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/judging/aa_recording.h"

namespace fusegate::ci {
namespace {

std::vector<std::string> programs_of(const RunRequest& request) {
  std::vector<std::string> programs = request.programs;
  if (programs.empty()) programs = {default_bench_program().string()};
  // One program into several folders compares it with itself.
  if (programs.size() == 1) programs.resize(request.out.size(), programs.front());
  if (programs.size() != request.out.size()) {
    throw baselines::InputError("--program", "",
                                fmt::format("{} for {}: give as many of one as of the other",
                                            format_count(programs.size(), "program"),
                                            format_count(request.out.size(), "--out folder")));
  }
  return programs;
}

// The same for every spelling of a folder, one with a slash at its end included.
std::filesystem::path canonical_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder));
  return path.has_filename() ? path : path.parent_path();
}

// "OUT-peers" beside OUT.
std::filesystem::path default_peers_folder(const std::filesystem::path& out) {
  std::filesystem::path folder = out.has_filename() ? out : out.parent_path();
  folder += "-peers";
  return folder;
}

std::filesystem::path peers_folder_of(const RunRequest& request) {
  return request.peers_out.value_or(default_peers_folder(request.out.front()));
}

// Where a run of ours and one of peers would write over each other.
void check_peers(const RunRequest& request) {
  if (request.peers_out && !request.peers) {
    throw baselines::InputError("--peers-out", "", "is for --peers, which is not given");
  }
  if (!request.peers) return;
  if (request.out.size() != 1) {
    throw baselines::InputError("--peers", "",
                                "takes one --out folder: peers stand beside one run");
  }
  const std::filesystem::path folder = peers_folder_of(request);
  if (canonical_folder(folder) == canonical_folder(request.out.front())) {
    throw baselines::InputError(folder.string(), "--peers-out", "is the --out folder");
  }
}

MeasuringRequest measuring_request(const RunRequest& request) {
  MeasuringRequest measuring{request};
  const std::vector<std::string> programs = programs_of(request);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    measuring.arms.push_back({request.out[i], programs[i]});
  }
  measuring.invocations = request.invocations;
  measuring.max_processes = request.max_processes.value_or(request.invocations);
  measuring.extends_whole_suite = true;
  measuring.min_effect = request.judging.min_effect;
  measuring.is_aa = request.aa;
  measuring.environment =
      keep_choices_environment(request.judging, request.suite, request.fresh_choices);
  measuring.append = request.append;
  if (request.peers) {
    measuring.peers = PeersRequest{peers_folder_of(request), request.peers_program};
  }
  return measuring;
}

void check(const RunRequest& request) {
  if (request.aa && request.out.size() != 1) {
    throw baselines::InputError("--aa", "", "takes one --out folder; duet has A/A arms of its own");
  }
  check_peers(request);
  if (request.aa && request.invocations < kLeastAaProcesses) {
    throw baselines::InputError("--aa", "",
                                fmt::format("needs --invocations {}", kLeastAaProcesses));
  }
  check_aa_history(request.aa_history);
  // Before an hour of measuring, not after it. Which stored baseline fits is known only then.
  if (!request.judging.baseline.empty()) load_baseline(request.judging, baselines::Run());
}

std::vector<baselines::Verdict> verdicts_on(const JudgingRequest& judging,
                                            const std::vector<ProgramRun>& arms) {
  std::vector<baselines::Verdict> verdicts;
  for (const ProgramRun& arm : arms) {
    JudgingRequest request = judging;
    request.candidate = {arm.folder()};
    const Report report = judged_report(request);
    const std::vector<baselines::Verdict>& own = report.judgement->result.verdicts;
    verdicts.insert(verdicts.end(), own.begin(), own.end());
  }
  return verdicts;
}

// Nothing where a run's figures and those of the baseline cannot be compared: it may have to become
// a baseline itself.
std::vector<ComparedRuns> compared_with_baseline(const JudgingRequest& judging,
                                                 const std::vector<ProgramRun>& arms) {
  std::vector<ComparedRuns> compared;
  for (const ProgramRun& arm : arms) {
    baselines::Run candidate = baselines::load_run({arm.folder()});
    auto baseline = load_baseline(judging, candidate);
    if (!baseline || !differences_between(baseline->run, candidate).empty()) return {};
    compared.push_back({std::move(baseline->run), std::move(candidate)});
  }
  return compared;
}

// Peers are measured beside all of ours.
Comparisons comparisons_of(const RunRequest& request, const std::vector<ProgramRun>& arms) {
  if (request.peers || !any_baseline_tells_work(request.judging, request.suite)) return {};
  return [&] { return compared_with_baseline(request.judging, arms); };
}

void record_aa_of(ProgramRun& arm, const RunRequest& request, Console& console) {
  const auto findings = record_aa(
      {arm.files_of("a"), arm.files_of("b"), request.judging, request.aa_history}, console);
  if (!findings) return;
  arm.set_aa(*findings);
  console.out.print("A/A: {}\n", aa_text(*findings));
}

}  // namespace

void add_run(CommandLine& line) {
  auto [app, request] =
      line.add("run", "Measure a suite in fresh processes and keep the result in a run folder",
               "fusegate run --suite smoke --invocations 5 --out run", run_command);
  add_measuring(app, request);
  add_repeated(app, "--out", request.out, "Folder for the run; one for each --program")
      ->type_name("FOLDER")
      ->required();
  app.add_flag("--append", request.append, "Add to a run that the folder already holds");
  app.add_option("--peers-out", request.peers_out,
                 "Folder for the peers' run; by default the --out folder's name with -peers")
      ->type_name("FOLDER");
  set_topic(app, kMeasuringTopic);
  add_repeated(
      app, "--program", request.programs,
      "Benchmark program, or a command such as \"python3 -m fusegate run kernels.py\"; by default "
      "the fusegate_bench beside this program. Several programs take turns: A B B A. One program "
      "with several --out fills each of these folders")
      ->type_name("PROGRAM");
  app.add_option("--max-invocations", request.max_processes,
                 "Measure benchmarks again that are undecided or suspicious beside the baseline, "
                 "up to this "
                 "many processes of each program; by default nothing is measured again")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--peers", request.peers,
               "Measure PyTorch and Liger too (bench/peers), after every process and with the same "
               "flags; report --peers shows them. Their Python is $FUSEGATE_PYTHON, else python3");
  app.add_flag(
      "--aa", request.aa,
      "Split the processes in two halves and compare these: any difference found is a false alarm");
  set_topic(app, kComparedTopic);
  app.add_option("--baseline", request.judging.baseline,
                 "The baseline for --max-invocations; by default the stored one")
      ->type_name("PATH");
  add_stores(app, request.judging);
  add_rule(app, request.judging);
}

Measured measure_run(const RunRequest& request, Console& console) {
  check(request);
  MeasuringRun run(measuring_request(request), console);
  Measured measured;
  measured.end = run.measure([&] { return verdicts_on(request.judging, run.arms()); },
                             comparisons_of(request, run.arms()));
  measured.all_well = run.report();
  if (request.aa && measured.end != RunEnd::kInterrupted) {
    record_aa_of(run.arms().front(), request, console);
  }
  return measured;
}

baselines::ExitCode run_command(const RunRequest& request, Console& console) {
  return measure_run(request, console).all_well ? baselines::ExitCode::kNoRegression
                                                : baselines::ExitCode::kCouldNotJudge;
}

}  // namespace fusegate::ci
