#include "ci/bisect/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "baselines/comparing/comparison.h"
#include "baselines/io/error.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "baselines/record/program_variables.h"
#include "ci/console/format.h"
#include "ci/gate/explain_text.h"
#include "ci/gate/verdict_text.h"
#include "ci/run/identification.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::VerdictKind;
using Decision = Step::Decision;
using Indices = std::vector<std::size_t>;

constexpr double kNormal95 = 1.96;

// What makes it another bisection; how much is measured does not.
std::string key_of(const BisectionRequest& request, const std::vector<Commit>& line) {
  const SideBySideRequest& measuring = request.measuring;
  std::string question = line.front().hash + line.back().hash;
  for (const std::string* text : {&measuring.benchmark, &measuring.measuring.suite,
                                  &request.build.build, &request.build.program}) {
    question += '\n' + *text;
  }
  for (const std::string& flag : measuring.measuring.flags) question += '\n' + flag;
  const std::string hash = fmt::format("{:016x}", std::hash<std::string>{}(question));
  return fmt::format("{}-{}-{}", short_hash(line.front()), short_hash(line.back()),
                     hash.substr(0, 8));
}

std::vector<Commit> line_of(const BisectionRequest& request) {
  const fs::path& checkout = request.build.checkout;
  const std::string good = hash_of(checkout, "--good", request.good);
  return line_between(checkout, good, hash_of(checkout, "--bad", request.bad));
}

// The interval's half is at least 1.96 standard errors, so that of few processes it is larger.
Level level_of(const baselines::Estimates& estimates) {
  const auto& [low, high] = estimates.interval;
  return {std::log1p(estimates.effect), (std::log1p(high) - std::log1p(low)) / 2 / kNormal95};
}

Level operator+(const Level& a, const Level& b) {
  return {a.log_effect + b.log_effect, std::hypot(a.standard_error, b.standard_error)};
}

class Bisection {
 public:
  Bisection(const BisectionRequest& request, Console& console)
      : request_(request),
        console_(console),
        line_(line_of(request)),
        steps_(request.build.checkout / ".fusegate" / "bisect" / key_of(request, line_), line_,
               request.fresh) {}

  BisectionResult run() {
    BisectionResult result{.line = line_, .folder = steps_.folder()};
    result.interrupted = !judge_ends(result) || (result.whole->differs() && !narrow(result));
    result.steps = steps_.all();
    result.known = steps_.known();
    result.measured_steps = steps_.measured();
    return result;
  }

 private:
  // False where it was interrupted, as the following ones.
  bool judge_ends(BisectionResult& result);
  bool narrow(BisectionResult& result);
  bool compare_found(const SearchState& state, BisectionResult& result);
  // Nothing where it was interrupted.
  std::optional<Step> decided(const SearchState& state);
  std::optional<Step> measured(const SearchState& state);
  std::optional<Step> identified(std::size_t commit, const std::string& program, bool& interrupted);
  std::optional<CommitDuet> direct_duet(std::size_t before, std::size_t after) const;

  // Throws where the good commit's program does not run any more: then no commit is at fault.
  bool require_good_runs(const std::string& problem);
  bool measure(const Indices& commits);
  ProcessRequest process_of(const std::string& program, const std::string& folder);
  Step step_of_levels(const SearchState& state, const Indices& commits) const;
  SideBySideRequest measuring_of_step() const;
  fs::path run_of(std::size_t step, std::size_t commit) const {
    return steps_.runs_of(step) / short_hash(line_[commit]);
  }
  BuiltProgram program(std::size_t commit) {
    return program_of(request_.build, line_[commit].hash, console_);
  }
  std::size_t last() const { return line_.size() - 1; }

  const BisectionRequest& request_;
  Console& console_;
  const std::vector<Commit> line_;
  Steps steps_;
  const Interrupts interrupts_{};  // also of what comes between measurements
  double least_ = 0;               // the smallest effect that matters, as a logarithm
};

bool Bisection::judge_ends(BisectionResult& result) {
  CommitDuet whole;
  if (steps_.all().empty()) {
    console_.err.print("measuring {} and {} first, with {} between them\n",
                       short_hash(line_.front()), short_hash(line_.back()),
                       format_count(last() - 1, "commit"));
    whole = duet_of_commits({request_.build, line_.front().hash, line_.back().hash,
                             request_.measuring, steps_.next_runs()},
                            console_);
    if (whole.interrupted) return false;
    if (whole.differs()) {
      steps_.add(
          {.commit = last(), .programs = {0, last()}, .level = level_of(whole.verdict.estimates)});
    }
  } else {
    console_.err.print("going on after {} of {}\n", format_count(steps_.all().size(), "step"),
                       steps_.folder().string());
    whole = judged_duet(request_.measuring, run_of(0, 0), run_of(0, last()));
  }
  least_ = std::log1p(whole.facts.options.rule.min_effect);
  result.whole = std::move(whole);
  return true;
}

bool Bisection::narrow(BisectionResult& result) {
  for (;;) {
    const SearchState state = search(steps_.known(), least_);
    if (!state.next) return compare_found(state, result);
    std::optional<Step> step = decided(state);
    if (!step) return false;
    steps_.add(std::move(*step));
    if (interrupts_.take() != 0) return false;
  }
}

bool Bisection::compare_found(const SearchState& state, BisectionResult& result) {
  std::vector<FoundChange> found;
  for (const Segment& change : state.changes) {
    auto duet = direct_duet(change.before, change.after);
    if (!duet) {
      console_.err.print("measuring {} and {}\n", short_hash(line_[change.before]),
                         short_hash(line_[change.after]));
      if (!measure({change.before, change.after})) return false;
      const std::size_t step = steps_.all().size();
      duet =
          judged_duet(request_.measuring, run_of(step, change.before), run_of(step, change.after));
      steps_.add({.commit = change.after, .programs = {change.before, change.after}});
    }
    found.push_back({change.before, change.after, std::move(*duet)});
  }
  // What the search followed and a direct comparison does not show; never all.
  if (std::ranges::any_of(found, [](const FoundChange& one) { return one.duet.differs(); })) {
    std::erase_if(found, [](const FoundChange& one) { return !one.duet.differs(); });
  }
  result.found = std::move(found);
  return true;
}

// Of a step that measured both, or commits of the same code.
std::optional<CommitDuet> Bisection::direct_duet(std::size_t before, std::size_t after) const {
  const std::vector<LineCommit> known = steps_.known();
  for (std::size_t step = 0; step < steps_.all().size(); ++step) {
    const Indices& programs = steps_.all()[step].programs;
    const auto of_code = [&](std::size_t commit) {
      return std::ranges::find_if(programs, [&](std::size_t i) {
        return i == commit || (known[i].state == LineCommit::State::kKnown &&
                               known[i].same_as == known[commit].same_as);
      });
    };
    const auto a = of_code(before), b = of_code(after);
    if (a == programs.end() || b == programs.end()) continue;
    return judged_duet(request_.measuring, run_of(step, *a), run_of(step, *b));
  }
  return std::nullopt;
}

std::optional<Step> Bisection::decided(const SearchState& state) {
  const std::size_t next = *state.next;
  console_.err.print("step {}: {} {} ({} left)\n", steps_.all().size(), short_hash(line_[next]),
                     line_[next].subject,
                     format_count(state.left_before + state.left_after + 1, "commit"));
  const BuiltProgram built = program(next);
  if (built.interrupted) return std::nullopt;
  Step skipped{.commit = next, .decision = Decision::kSkipped, .reason = built.failure};
  if (built.failure.empty()) try {
      bool interrupted = false;
      auto step = identified(next, built.program, interrupted);
      if (interrupted) return std::nullopt;
      return step ? step : measured(state);
    } catch (const baselines::InputError& error) {
      if (!require_good_runs(error.what())) return std::nullopt;
      skipped.reason = fmt::format("cannot be measured: {}", error.what());
    }
  console_.err.print("skipped: {}\n", skipped.reason);
  return skipped;
}

// The step of a commit that runs code which is known already; nothing where it runs other code, or
// does not say what it runs.
std::optional<Step> Bisection::identified(std::size_t commit, const std::string& program,
                                          bool& interrupted) {
  const std::string& name = request_.measuring.benchmark;
  const auto known_code = [&](const fs::path& folder) -> std::optional<baselines::BenchmarkSeries> {
    const baselines::Run run = baselines::load_run({folder});
    const baselines::BenchmarkSeries* series = series_of(run, name);
    if (series == nullptr || !baselines::code_is_known(*series)) return std::nullopt;
    return *series;
  };
  if (!known_code(run_of(0, 0))) return std::nullopt;
  const ProcessRequest request = process_of(program, "identified");
  const IdentifyResult answer = identify_programs({request}, console_);
  interrupted = answer == IdentifyResult::kInterrupted;
  if (answer != IdentifyResult::kAll) return std::nullopt;
  const auto code = known_code(request.folder);
  for (std::size_t step = 0; code && step < steps_.all().size(); ++step) {
    for (const std::size_t other : steps_.all()[step].programs) {
      const auto its = known_code(run_of(step, other));
      if (!its || !baselines::identical_code(*its, *code)) continue;
      console_.err.print("it runs the code of {}\n", short_hash(line_[other]));
      return Step{.commit = commit, .decision = Decision::kIdenticalCode, .same_as = other};
    }
  }
  return std::nullopt;
}

ProcessRequest Bisection::process_of(const std::string& program, const std::string& folder) {
  const SideBySideRequest measuring = measuring_of_step();
  const MeasuringOptions& options = measuring.measuring;
  ProcessRequest request{.program = program,
                         .suite = suites_of(options.suite, program, program, options.flags).head,
                         .folder = steps_.next_runs() / folder,
                         .seed = options.seed.value_or(1),
                         .flags = options.flags,
                         .google_benchmark = ask_for_google_benchmark(program, options.flags),
                         .environment = measuring.environment,
                         .timeout_s = options.timeout_s,
                         .interrupts = &interrupts_};
  fs::create_directories(request.folder);
  return request;
}

bool Bisection::require_good_runs(const std::string& problem) {
  const ProcessRequest good = process_of(program(0).program, "good");
  const ProcessOutcome outcome = run_process(good, [](const ProgressEvent&) {});
  if (outcome.interrupted) return false;
  if (outcome.record.failure.empty()) return true;
  throw baselines::InputError(
      good.program, "",
      fmt::format("does not run any more: {}; the step failed before by: {}",
                  outcome.record.failure, problem));
}

// Beside the good commit. Where nothing is left between it and an end of its segment, beside that:
// if these two differ, they have been compared directly.
std::optional<Step> Bisection::measured(const SearchState& state) {
  Indices commits{state.left_before == 0 ? state.of_next.before : 0, *state.next};
  if (state.left_after == 0) commits.push_back(state.of_next.after);
  if (!measure(commits)) return std::nullopt;
  return step_of_levels(state, commits);
}

bool Bisection::measure(const Indices& commits) {
  const fs::path runs = steps_.next_runs();
  std::vector<CommitRun> measured;
  for (const std::size_t commit : commits) {
    const BuiltProgram built = program(commit);  // kept
    if (built.interrupted) return false;
    if (!built.failure.empty()) {
      throw baselines::InputError(short_hash(line_[commit]), "", built.failure);
    }
    measured.push_back({built.program, runs / short_hash(line_[commit])});
  }
  return measure_side_by_side(measuring_of_step(), measured, console_);
}

// What the first comparison measured, and the choices that it found for the good commit.
SideBySideRequest Bisection::measuring_of_step() const {
  SideBySideRequest measuring = request_.measuring;
  if (steps_.all().empty()) return measuring;
  std::vector<std::string> names;
  for (const auto& series : baselines::load_run({run_of(0, 0)}).benchmarks) {
    if (!series.processes.empty()) names.push_back(series.name);
  }
  if (const auto filter = benchmark_filter_flag(names))
    measuring.measuring.flags.push_back(*filter);
  const fs::path identities = run_of(0, 0) / baselines::kIdentitiesFile;
  if (fs::exists(identities) && !measuring.measuring.fresh_choices) {
    measuring.environment.emplace(baselines::kPinChoicesVariable, identities.string());
  }
  return measuring;
}

Step Bisection::step_of_levels(const SearchState& state, const Indices& commits) const {
  const std::size_t next = *state.next, step = steps_.all().size();
  const std::size_t base = commits.front();
  const std::vector<LineCommit> known = steps_.known();
  Step result{.commit = next, .programs = commits};
  const CommitDuet duet = judged_duet(request_.measuring, run_of(step, base), run_of(step, next));
  const auto skip = [&](std::string reason) {
    return Step{.commit = next, .decision = Decision::kSkipped, .reason = std::move(reason)};
  };
  if (duet.verdict.kind == VerdictKind::kIdentical) {
    return {.commit = next, .decision = Decision::kIdenticalCode, .same_as = base};
  }
  if (!std::isfinite(duet.verdict.estimates.effect)) {
    return skip("cannot be compared: " + reason_text(duet.verdict, duet.facts.options.rule));
  }
  result.level = level_of(duet.verdict.estimates);
  if (base != 0) result.level = known[base].level + result.level;
  // Which of the segment's ends it is like cannot be said.
  if (!(kNormal95 * result.level.standard_error < std::abs(state.of_next.log_effect) / 2)) {
    return skip(fmt::format("undecided: {} over the good commit, {}",
                            format_effect(duet.verdict.estimates.effect),
                            format_interval(duet.verdict.estimates.interval)));
  }
  return result;
}

}  // namespace

BisectionResult bisect(const BisectionRequest& request, Console& console) {
  check_build(request.build);
  return Bisection(request, console).run();
}

}  // namespace fusegate::ci
