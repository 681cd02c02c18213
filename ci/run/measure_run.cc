#include "ci/run/measure_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/io/error.h"
#include "baselines/launches/identities.h"
#include "baselines/record/program_variables.h"
#include "ci/console/format.h"
#include "ci/processes/run_record.h"
#include "ci/run/extension.h"
#include "ci/run/identification.h"
#include "ci/run/rounds.h"
#include "ci/run/session.h"
#include "ci/selection/selection.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// Of a part of the suite the names that the stored baseline has are known before.
std::vector<std::string> flags_of_part(const Only& only,
                                       const std::optional<baselines::Run>& stored,
                                       Session& session) {
  if (!stored) {
    session.console.err.print(
        "asking for all benchmarks: no stored baseline names those of suite {}\n",
        session.request.options.suite);
    return {};
  }
  const std::vector<std::string> asked = only.asked(*stored, session.request.controls);
  const auto filter = benchmark_filter_flag(asked);
  if (!filter) return {};
  std::vector<std::string> others;
  for (const auto& series : stored->benchmarks) {
    if (!std::ranges::binary_search(asked, series.name)) others.push_back(series.name);
  }
  session.leave_out(others, only.reason());
  return {*filter};
}

// What programs are asked, and measure unless less is selected.
std::vector<std::string> flags_of_shard(const MeasuringRequest& request) {
  if (!request.options.shard) return {};
  return {filter_of(*request.options.shard)};
}

IdentifyResult identify(Session& session, const std::vector<std::string>& flags) {
  // Of all programs the same: what they choose must not differ by it.
  const std::uint64_t seed = session.request.options.seed.value_or(1);
  std::vector<ProcessRequest> requests;
  std::vector<std::string> questions;
  bool all_known = true;
  for (const ProgramRun& program : session.programs) {
    requests.push_back(session.process_request(program, seed, flags));
    questions.push_back(identification_question(requests.back()));
    all_known = all_known && !questions.back().empty() &&
                program.record().identified == questions.back() &&
                fs::exists(program.folder() / baselines::kIdentitiesFile);
  }
  if (all_known) return IdentifyResult::kAll;  // of a run that is added to
  for (ProgramRun& program : session.programs) program.set_identified("");
  const IdentifyResult result =
      identify_programs(requests, session.console, session.request.options.plans_budget);
  for (std::size_t i = 0; result == IdentifyResult::kAll && i < requests.size(); ++i) {
    session.programs[i].set_identified(questions[i]);
  }
  return result;
}

// By it rounds measure no more than what is selected.
void apply(Selection selection, Session& session) {
  if (selection.nothing_differs() && !session.request.has_record) selection.measured.clear();
  const auto filter = benchmark_filter_flag(selection.measured);
  if (!filter) {
    session.console.err.print(
        "measuring all benchmarks: the names of {} are too long for one argument\n",
        format_count(selection.measured.size(), "benchmark"));
    return;
  }
  if (session.budget) {
    session.selection = std::move(selection);
    session.take_budget();
    session.console.out.print("{}\n", session.budget->text());
    return;
  }
  session.console.out.print("{}\n", selection_text(selection));
  const bool is_narrowed = !session.request.benchmark.empty();
  if (is_narrowed || selection.controls < selection.identical) {
    session.whole_round_flags = {*filter};
  }
  if (selection.measured.empty()) {
    session.set_processes(0);
  } else if (session.request.processes_of_few && selection.few_differ()) {
    session.set_processes(*session.request.processes_of_few);
  }
  session.selection = std::move(selection);
}

// Whether every program can wait for its turn, and takes long enough to load. On an H100's machine
// a file of Triton kernels takes 4 to 11 s, and what C++ has linked in 0.1 s.
bool pays_to_load_together(const Session& session) {
  constexpr double kLeastLoadS = 1;
  if (std::getenv(baselines::kTurnVariable) != nullptr) return false;
  return std::ranges::all_of(session.programs, [](const ProgramRun& program) {
    const fs::path file = program.folder() / baselines::kIdentitiesFile;
    return baselines::read_identities(file).load_s >= kLeastLoadS;
  });
}

bool is_control(const ComparedRuns& runs, const std::string& name) {
  const baselines::BenchmarkSeries* const series = find_series(runs.baseline, name);
  return series != nullptr && series->is_control;
}

// As if nobody had asked what these launch.
void forget(const std::vector<std::string>& benchmarks, const Session& session) {
  for (const ProgramRun& program : session.programs) {
    const fs::path file = program.folder() / baselines::kIdentitiesFile;
    baselines::Identities identities = baselines::read_identities(file);
    for (const std::string& name : benchmarks) identities.benchmarks.erase(name);
    for (const std::string& name : benchmarks) identities.counters.erase(name);
    for (const std::string& name : benchmarks) identities.choices.erase(name);
    baselines::write_identities(file, identities);
  }
}

// Those that are not asked for. What is known to differ is undecided; of others nothing is known,
// as where they are not identified.
void leave_out_others(const Only& only, const ComparedRuns& runs, Selection& selection,
                      Session& session) {
  std::vector<std::string> others, unknown;
  for (const std::string& name : selection.measured) {
    const bool is_identical =
        std::ranges::find(selection.control_names, name) != selection.control_names.end();
    if (is_identical || is_control(runs, name) || only.takes(name)) continue;
    others.push_back(name);
    const baselines::BenchmarkSeries* const before = find_series(runs.baseline, name);
    const baselines::BenchmarkSeries* const now = find_series(runs.candidate, name);
    const bool is_known =
        before && now && baselines::code_is_known(*before) && baselines::code_is_known(*now);
    if (!is_known) unknown.push_back(name);
  }
  std::erase_if(selection.measured,
                [&](const std::string& name) { return std::ranges::binary_search(others, name); });
  session.leave_out(others, only.reason());
  if (!unknown.empty()) forget(unknown, session);
}

BudgetTerms budget_terms(const Session& session, double identification_s) {
  const MeasuringRequest& request = session.request;
  const double budget_s = *request.options.budget_s;
  return {.budget_s = budget_s,
          .left_s = session.left_s(),
          .identification_s = identification_s,
          .programs = static_cast<int>(request.programs.size()),
          .most_processes = std::max(request.processes, request.max_processes),
          .may_thin = request.may_thin};
}

void identify_and_select(Session& session, const RunAnalyses& analyses) {
  if (!session.google_benchmarks.empty()) {
    session.console.err.print(
        "measuring all benchmarks: {} knows Google Benchmark's flags alone, and does not say what "
        "code it runs\n",
        session.google_benchmarks.begin()->first);
    return;
  }
  const MeasuringOptions& options = session.request.options;
  std::optional<Only> only;
  if (options.only.names_any()) only.emplace(options.only);
  const double asked_s = session.now();
  const IdentifyResult result =
      identify(session, only ? flags_of_part(*only, analyses.stored, session)
                             : flags_of_shard(session.request));
  if (result == IdentifyResult::kInterrupted) session.end = RunEnd::kInterrupted;
  if (result != IdentifyResult::kAll) return;
  try {
    session.loads_together = pays_to_load_together(session);
    const std::vector<ComparedRuns> compared = analyses.comparisons();
    if (compared.empty()) return;
    session.takes_found_choices = true;
    Selection selection =
        select_benchmarks(compared, session.request.controls, session.request.benchmark);
    if (only) leave_out_others(*only, compared.front(), selection, session);
    if (options.plans_budget && !selection.nothing_differs()) {
      const double each_s =
          (session.now() - asked_s) / static_cast<double>(session.programs.size());
      session.budget = budgeted(compared, selection, budget_terms(session, each_s));
    }
    apply(std::move(selection), session);
  } catch (const baselines::InputError& error) {
    session.console.err.print("measuring all benchmarks: {}\n", error.what());
  }
}

std::string measured_text(const Session& session, const ProgramRun& program, int failures) {
  std::string text = fmt::format("{} of suite {} in {}", process_count(program.processes()),
                                 session.request.options.suite, program.folder().string());
  if (const int extensions = program.extensions(); extensions > 0) {
    text += fmt::format(", {} of them for undecided benchmarks", extensions);
  }
  if (failures > 0) text += fmt::format(", {} of them failed", failures);
  if (session.end == RunEnd::kBudget) text += " (stopped by the time budget)";
  return text;
}

std::vector<std::string> notes_of(Session& session) {
  std::vector<std::string> notes;
  if (session.budget) {
    // Where a round took longer than the first did, there are fewer.
    int& processes = session.budget->plan.processes;
    processes = std::min(processes, session.programs.front().processes());
    notes.push_back(session.budget->text());
    if (const std::string shortage = session.budget->shortage(); !shortage.empty()) {
      notes.push_back(shortage);
    }
  } else if (session.request.options.plans_budget && !session.selection) {
    notes.push_back(
        "Nothing was planned within the budget, as a program does not name what it "
        "measures: it is a limit alone.");
  }
  return notes;
}

// Prints what was measured and where it lies, and what failed. Whether every process ended well.
bool summarize(const Session& session, const Rounds& rounds) {
  bool all_well = !session.is_cut_short();
  rounds.report_failed_benchmarks();
  for (const ProgramRun& program : session.programs) {
    const int failures = program.report_failures(session.console);
    if (failures > 0) all_well = false;
    if (session.is_interrupted()) {
      session.console.err.print("fusegate: interrupted; {} finished, kept in {}\n",
                                process_count(program.processes() - failures),
                                program.folder().string());
    } else if (session.measures_anything()) {
      session.console.out.print("{}\n", measured_text(session, program, failures));
    }
  }
  if (session.peers) session.peers->report(session.console);
  return all_well;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RunResult measure_run(const MeasuringRequest& request, const RunAnalyses& analyses,
                      Console& console, ProgressDisplay::Now now) {
  Session session(request, console, std::move(now));  // locks the folders
  session.whole_round_flags = request.benchmark_flags;
  std::ranges::copy(flags_of_shard(request), std::back_inserter(session.whole_round_flags));
  Rounds rounds(session);
  if (analyses.comparisons && !request.options.measures_all) {
    identify_and_select(session, analyses);
  }
  if (session.goes_on()) rounds.measure_minimum();
  if (session.goes_on()) repeat_outliers(session, rounds);
  const bool may_extend = request.max_processes > session.processes &&
                          session.measures_anything() && !request.options.plans_budget;
  if (analyses.interim && may_extend) extend(session, rounds, analyses.interim);
  if (!session.is_cut_short() && session.measures_anything()) name_outliers(session);
  session.finish();
  const bool all_well = summarize(session, rounds);
  std::vector<std::string> notes = notes_of(session);
  return {session.end, all_well, session.measures_anything(), std::move(session.programs),
          std::move(notes)};
}

}  // namespace fusegate::ci
