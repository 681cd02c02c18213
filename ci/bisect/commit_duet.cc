#include "ci/bisect/commit_duet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/record/load_run.h"
#include "baselines/statistics/statistics.h"
#include "ci/console/layout.h"
#include "ci/gate/explain_text.h"
#include "ci/run/measure_run.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::VerdictKind;

// The benchmark and the controls that a user names: a program that does not say what it launches
// cannot be asked for others.
std::vector<std::string> flags_without_identities(const SideBySideRequest& request) {
  auto filter = benchmark_filter_flag({request.benchmark});
  if (!filter) return {};
  for (const std::string& pattern : request.judging.controls) *filter += '|' + pattern;
  return {*filter};
}

MeasuringRequest measuring_of(const SideBySideRequest& request,
                              const std::vector<CommitRun>& runs) {
  MeasuringRequest measuring{.options = request.measuring};
  const std::string& suite = request.measuring.suite;
  for (const CommitRun& run : runs) {
    const bool is_first = measuring.programs.empty();
    const SuitePair suites =
        suites_of(suite, runs.front().program, is_first ? runs[1].program : run.program,
                  request.measuring.flags);
    measuring.programs.push_back(
        {run.folder, run.program, true, is_first ? suites.base : suites.head});
  }
  const ProcessCounts& counts = request.processes;
  measuring.processes = counts.wanted();
  measuring.max_processes = counts.maximum.value_or(3 * counts.wanted());
  if (!counts.is_given && !counts.maximum) measuring.processes_of_few = baselines::kFewestProcesses;
  measuring.min_effect = request.judging.min_effect;
  measuring.has_record = false;
  measuring.controls = ControlUse::kSideBySide;
  measuring.benchmark = request.benchmark;
  measuring.benchmark_flags = flags_without_identities(request);
  measuring.environment = request.environment;
  return measuring;
}

// Of each two that follow each other.
template <typename Of>
auto of_neighbours(const std::vector<CommitRun>& runs, const Of& of) {
  std::vector<decltype(of(runs[0], runs[1]))> all;
  for (std::size_t i = 1; i < runs.size(); ++i) all.push_back(of(runs[i - 1], runs[i]));
  return all;
}

std::vector<ComparedRuns> loaded(const std::vector<CommitRun>& runs) {
  return of_neighbours(runs, [](const CommitRun& base, const CommitRun& head) {
    return ComparedRuns{baselines::load_run({base.folder}), baselines::load_run({head.folder})};
  });
}

JudgingRequest judging_of(const SideBySideRequest& request, const fs::path& base,
                          const fs::path& head) {
  JudgingRequest judging = request.judging;
  judging.baseline = {base};
  judging.candidate = {head};
  judging.allow_environment_differences = true;
  return judging;
}

std::vector<baselines::Verdict> verdicts_of(const SideBySideRequest& request,
                                            const std::vector<CommitRun>& runs) {
  std::vector<baselines::Verdict> all;
  for (auto& verdicts : of_neighbours(runs, [&](const CommitRun&base, const CommitRun&head) {
         return judged(judging_of(request, base.folder, head.folder)).result.verdicts;
       })) {
    all.insert(all.end(), verdicts.begin(), verdicts.end());
  }
  return all;
}

// What a process of theirs said; "" where nothing went wrong.
std::string failure_of(const std::vector<CommitRun>& runs) {
  for (const CommitRun& run : runs) {
    for (const ProcessRecord& process : read_run_record(run.folder).processes) {
      if (!process.failure.empty()) {
        return fmt::format("{}/{}: {}", run.folder.string(), process.file, process.failure);
      }
    }
  }
  return "";
}

void require_benchmark(const SideBySideRequest& request, const std::vector<CommitRun>& runs) try {
  const baselines::Run base = baselines::load_run({runs.front().folder});
  const baselines::Run head = baselines::load_run({runs.back().folder});
  if (series_of(base, request.benchmark) || series_of(head, request.benchmark)) return;
  const std::vector<std::string> near = near_benchmarks(request.benchmark, base, head);
  throw baselines::InputError(
      "--benchmark", "",
      fmt::format("neither commit has {} in suite {}{}", request.benchmark,
                  suite_name(request.measuring.suite),
                  near.empty() ? std::string() : fmt::format("; near: {}", fmt::join(near, ", "))));
} catch (const baselines::InputError&) {
  const std::string failure = failure_of(runs);
  if (failure.empty()) throw;
  throw baselines::InputError(request.benchmark, "", "was not measured: " + failure);
}

}  // namespace

bool measure_side_by_side(const SideBySideRequest& request, const std::vector<CommitRun>& runs,
                          Console& console) {
  // What is measured is progress here; the result is the caller's.
  Console progress = console;
  progress.out = console.err;
  const RunAnalyses analyses{.interim = [&] { return verdicts_of(request, runs); },
                             .comparisons = [&] { return loaded(runs); }};
  const RunResult measured = measure_run(measuring_of(request, runs), analyses, progress);
  progress.out.flush();
  if (measured.end == RunEnd::kInterrupted) return false;
  require_benchmark(request, runs);
  return true;
}

bool CommitDuet::differs() const {
  return verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement;
}

CommitDuet judged_duet(const SideBySideRequest& request, const fs::path& base,
                       const fs::path& head) {
  CommitDuet duet{.facts = judged(judging_of(request, base, head))};
  const auto& verdicts = duet.facts.result.verdicts;
  const auto found = std::ranges::find(verdicts, request.benchmark, &baselines::Verdict::benchmark);
  if (found == verdicts.end()) {
    throw baselines::InputError(head.string(), request.benchmark, "was not judged");
  }
  duet.verdict = *found;
  return duet;
}

CommitDuet duet_of_commits(const CommitDuetRequest& request, Console& console) {
  check_build(request.build);
  const fs::path folder = request.folder.empty() ? new_run_folder() : request.folder;
  std::vector<CommitRun> runs;
  for (const auto& [option, revision] :
       {std::pair("--good", request.good), {"--bad", request.bad}}) {
    const std::string hash = hash_of(request.build.checkout, option, revision);
    const BuiltProgram built = program_of(request.build, hash, console);
    if (built.interrupted) return {.interrupted = true};
    if (!built.failure.empty()) {
      throw baselines::InputError(option, "",
                                  fmt::format("commit {}: {}", hash.substr(0, 12), built.failure));
    }
    runs.push_back({built.program, folder / hash.substr(0, 12)});
  }
  if (!measure_side_by_side(request.measuring, runs, console)) return {.interrupted = true};
  return judged_duet(request.measuring, runs[0].folder, runs[1].folder);
}

}  // namespace fusegate::ci
