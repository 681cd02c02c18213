#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/on_cards.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/gate/aa_history.h"

namespace fusegate::ci {
namespace {

std::vector<std::string> programs_of(const RunRequest& request) {
  std::vector<std::string> programs = request.programs;
  if (programs.empty()) programs = {default_bench_program().string()};
  // One program into several folders compares it with itself.
  if (programs.size() == 1) programs.resize(request.out.size(), programs.front());
  if (programs.size() != request.out.size()) {
    throw baselines::InputError("--program", "",
                                fmt::format("{} for {}; give one --out folder for each program",
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
    throw baselines::InputError("--peers-out", "", "needs --peers");
  }
  if (!request.peers) return;
  if (request.out.size() != 1) {
    throw baselines::InputError("--peers", "",
                                "takes one --out folder: peers are measured beside one run");
  }
  const std::filesystem::path folder = peers_folder_of(request);
  if (canonical_folder(folder) == canonical_folder(request.out.front())) {
    throw baselines::InputError(folder.string(), "--peers-out",
                                "is the --out folder; name another for the peers");
  }
}

MeasuringRequest measuring_request(const RunRequest& request) {
  MeasuringRequest measuring{.options = request.measuring};
  const std::vector<std::string> programs = programs_of(request);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    measuring.programs.push_back({request.out[i], programs[i]});
  }
  measuring.processes = request.processes.wanted();
  measuring.max_processes = request.processes.maximum.value_or(request.processes.wanted());
  measuring.extends_whole_suite = true;
  measuring.min_effect = request.judging.min_effect;
  measuring.is_aa = request.aa;
  measuring.environment = keep_choices_environment(request.judging, request.measuring.suite,
                                                   request.measuring.fresh_choices);
  if (request.peers) {
    measuring.peers = PeersRequest{peers_folder_of(request), request.peers_program};
  }
  return measuring;
}

void check(const RunRequest& request) {
  if (!request.measuring.gpus.empty() && (request.out.size() != 1 || request.programs.size() > 1)) {
    throw baselines::InputError("--gpus", "", "takes one --program and one --out folder");
  }
  if (request.aa && request.out.size() != 1) {
    throw baselines::InputError("--aa", "",
                                "takes one --out folder; duet makes an A/A comparison of its own");
  }
  check_peers(request);
  if (request.aa && request.processes.wanted() < kLeastAaProcesses) {
    throw baselines::InputError("--aa", "",
                                fmt::format("needs --processes {} or more", kLeastAaProcesses));
  }
  check_aa_history(request.aa_history);
  // Before an hour of measuring, not after it. Which stored baseline fits is known only then.
  if (!request.judging.baseline.empty()) load_baseline(request.judging, baselines::Run());
  accepted_slowdowns(request.judging);
}

// Where runs of one program are compared, a benchmark is undecided as long as it keeps the gate
// from passing. To narrow its interval further would take time and find nothing.
std::vector<baselines::Verdict> undecided_as_in_gate(const GateFacts& facts) {
  std::vector<baselines::Verdict> verdicts = facts.result.verdicts;
  const auto open = not_ruled_out(facts.result.verdicts, facts.options.allow);
  for (baselines::Verdict& verdict : verdicts) {
    const bool is_open =
        std::ranges::find(open, verdict.benchmark, &baselines::Verdict::benchmark) != open.end();
    if (verdict.kind == baselines::VerdictKind::kInconclusive && !is_open) {
      verdict.kind = baselines::VerdictKind::kUnchanged;
    }
  }
  return verdicts;
}

// Of each run by the baseline, or by the first of them.
std::vector<baselines::Verdict> interim_verdicts(const RunRequest& request) {
  const bool by_first = request.is_judged_by_first;
  JudgingRequest judging = request.judging;
  if (by_first) judging.baseline = {request.out.front()};
  std::vector<baselines::Verdict> verdicts;
  for (std::size_t i = by_first ? 1 : 0; i < request.out.size(); ++i) {
    judging.candidate = {request.out[i]};
    const GateFacts facts = judged(judging);
    std::ranges::copy(by_first ? undecided_as_in_gate(facts) : facts.result.verdicts,
                      std::back_inserter(verdicts));
  }
  return verdicts;
}

// Nothing where a run's figures and those of the baseline cannot be compared: it may have to become
// a baseline itself.
std::vector<ComparedRuns> compared_with_baseline(const RunRequest& request) {
  std::vector<ComparedRuns> compared;
  for (const std::filesystem::path& folder : request.out) {
    baselines::Run candidate = baselines::load_run({folder});
    auto baseline = load_baseline(request.judging, candidate);
    if (!baseline || !differences_between(baseline->run, candidate).empty()) return {};
    compared.push_back({std::move(baseline->run), std::move(candidate)});
  }
  return compared;
}

RunAnalyses analyses_of(const RunRequest& request) {
  RunAnalyses analyses{.interim = [&] { return interim_verdicts(request); },
                       .stored = stored_part(request.measuring, request.judging)};
  // Peers are measured beside all of ours.
  if (!request.peers && any_baseline_has_identities(request.judging, request.measuring.suite)) {
    analyses.comparisons = [&] { return compared_with_baseline(request); };
  }
  return analyses;
}

void record_aa_of(ProgramRun& program, const RunRequest& request, Console& console) {
  const auto findings = record_aa(
      {program.files_of("a"), program.files_of("b"), request.judging, request.aa_history}, console);
  if (!findings) return;
  program.set_aa(*findings);
  console.out.print("A/A: {}\n", aa_text(*findings));
}

RunResult measure(const RunRequest& request, Console& console) {
  return measure_run(measuring_request(request), analyses_of(request), console);
}

RunResult measure_on_cards(const RunRequest& request, Console& console) {
  const auto measure_shard = [&](const MeasuringOptions& measuring,
                                 const std::filesystem::path& folder, Console& of_card) {
    RunRequest shard = request;
    shard.measuring = measuring;
    shard.out = {folder};
    return measure(shard, of_card);
  };
  return measure_on_cards({.measuring = request.measuring,
                           .judging = request.judging,
                           .programs = {{programs_of(request).front(), request.measuring.suite}},
                           .folders = {request.out.front()},
                           .out = request.out.front()},
                          measure_shard, console);
}

void add_peers(CLI::App& app, RunRequest& request) {
  app.add_option("--peers-out", request.peers_out,
                 "Folder for the peers' run; by default the --out folder's name with -peers")
      ->type_name("FOLDER");
  set_topic(app, kMeasuringTopic);
  app.add_flag(
         "--peers", request.peers,
         "Also measure PyTorch and Liger (bench/peers), after every process and with the same "
         "flags, for report --peers. Their Python is $FUSEGATE_PYTHON, else python3")
      ->excludes(app.get_option("--plan"))
      ->excludes(app.get_option("--resume"));
}

}  // namespace

void add_run(CommandLine& line) {
  auto [app, request] =
      line.add("run", "Measure a suite in several processes and keep the result in a run folder",
               "fusegate run --suite smoke --processes 5 --out run", run_command);
  line.pass_on(app, request.measuring.flags);
  add_measuring(app, request.measuring, request.processes);
  add_aa_history(app, request.aa_history);
  add_repeated(app, "--out", request.out, "Folder for the run; one for each --program")
      ->type_name("FOLDER")
      ->required();
  add_earlier(app, "--append", Earlier::kAddedTo, request.measuring,
              "Add to a run that the folder already holds");
  app.get_option("--append")->excludes(app.get_option("--resume"));
  add_peers(app, request);
  set_topic(app, kMeasuringTopic);
  add_repeated(
      app, "--program", request.programs,
      "Benchmark program, or a command such as \"fusegate_bench kernels.py\"; by default "
      "the fusegate_bench beside this program. Several programs take turns: A B B A. One program "
      "with several --out fills each of these folders")
      ->type_name("PROGRAM");
  add_max_processes(
      app, request.processes,
      "Measure again while benchmarks are undecided or suspicious beside the baseline, "
      "up to this many processes of each program; by default nothing is measured "
      "again");
  app.add_flag("--aa", request.aa,
               "Compare one half of the processes with the other: any difference found is a false "
               "alarm");
  add_gpus(app, request.measuring);
  for (const char* other : {"--plan", "--append", "--resume", "--peers", "--aa"}) {
    app.get_option("--gpus")->excludes(app.get_option(other));
  }
  set_topic(app, kComparedTopic);
  app.add_option("--baseline", request.judging.baseline,
                 "The baseline for --max-processes; by default the stored one")
      ->type_name("PATH");
  add_stores(app, request.judging);
  add_rule(app, request.judging);
}

void take_shard(MeasuringOptions& measuring) {
  measuring.shard = read_shard(measuring.asked_shard, measuring.suite);
}

std::optional<baselines::Run> stored_part(const MeasuringOptions& measuring,
                                          const JudgingRequest& judging) {
  return measuring.only.names_any() ? any_stored_run(judging, measuring.suite) : std::nullopt;
}

RunResult measure_programs(const RunRequest& request, Console& console) {
  check(request);
  if (!request.measuring.gpus.empty()) return measure_on_cards(request, console);
  RunResult measured = measure(request, console);
  if (request.aa && measured.end != RunEnd::kInterrupted) {
    record_aa_of(measured.programs.front(), request, console);
  }
  return measured;
}

baselines::ExitCode run_command(const RunRequest& request, Console& console) {
  RunRequest complete = request;
  take_shard(complete.measuring);
  return measure_programs(complete, console).all_well ? baselines::ExitCode::kNoRegression
                                                      : baselines::ExitCode::kCouldNotJudge;
}

}  // namespace fusegate::ci
