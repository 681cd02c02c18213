#include "ci/calibrate_experiment.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <sstream>

#include "baselines/error.h"
#include "ci/format.h"
#include "ci/run_command.h"
#include "ci/run_record.h"
#include "ci/time_left.h"

namespace fusegate {
namespace {

namespace fs = std::filesystem;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

enum class InvocationEnd { kWell, kFailed, kInterrupted };

class ExperimentRun {
 public:
  ExperimentRun(const ExperimentRequest& request, Console& console)
      : request_(request),
        console_(console),
        planned_(request.experiment.variants.size() *
                 static_cast<std::size_t>(request.invocations)),
        time_left_(static_cast<int>(planned_)),
        random_(request.seed ? *request.seed : std::random_device{}()) {}

  ExitCode measure() {
    bool all_well = true;
    const double start = steady_seconds();
    for (const auto& round :
         experiment_rounds(request_.experiment.variants.size(), request_.invocations, random_())) {
      if (request_.budget_s && steady_seconds() - start >= *request_.budget_s) {
        fmt::print(console_.err, "fusegate: the time budget is used up\n");
        break;
      }
      for (const std::size_t variant : round) {
        const InvocationEnd end = run_one(request_.experiment.variants[variant]);
        if (end == InvocationEnd::kInterrupted) return ExitCode::kCouldNotJudge;
        all_well = all_well && end == InvocationEnd::kWell;
      }
    }
    return all_well ? ExitCode::kNoRegression : ExitCode::kCouldNotJudge;
  }

 private:
  InvocationEnd run_one(const Variant& variant) {
    announce(variant);
    RunRequest run;
    run.suite = request_.experiment.suite;
    run.invocations = 1;
    run.out = {request_.out / variant.folder()};
    if (!request_.program.empty()) run.programs = {request_.program};
    run.flags = request_.experiment.flags;
    run.flags.insert(run.flags.end(), variant.flags.begin(), variant.flags.end());
    run.timeout_s = request_.timeout_s;
    run.seed = random_();
    run.append = true;
    // A line a process is said here already, with the variant's name.
    std::ostringstream unheard;
    Console console{unheard, console_.err, console_.status_line, console_.columns};
    try {
      const bool well = run_command(run, console) == ExitCode::kNoRegression;
      return ended(run.out.front(), well);
    } catch (const InputError& error) {
      throw InputError("variant", variant.name, error.what());
    }
  }

  void announce(const Variant& variant) {
    const auto left = time_left_.seconds();
    fmt::print(console_.err, "process {}/{}: {}{}\n", ++started_, planned_, variant.name,
               left ? fmt::format(", {} left", format_duration(*left)) : "");
    time_left_.start_invocation();
  }

  InvocationEnd ended(const fs::path& folder, bool well) {
    const RunRecord record = read_run_record(folder);
    time_left_.finish_invocation(record.invocations.back().seconds, well);
    if (well) return InvocationEnd::kWell;
    return record.finished ? InvocationEnd::kFailed : InvocationEnd::kInterrupted;
  }

  const ExperimentRequest& request_;
  Console& console_;
  std::size_t planned_;
  std::size_t started_ = 0;
  TimeLeft time_left_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<std::vector<std::size_t>> experiment_rounds(std::size_t variants, int rounds,
                                                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::size_t>> plan;
  for (int i = 0; i < rounds; ++i) {
    std::vector<std::size_t> round(variants);
    std::iota(round.begin(), round.end(), std::size_t{0});
    std::ranges::shuffle(round, random);
    plan.push_back(std::move(round));
  }
  return plan;
}

ExitCode measure_experiment(const ExperimentRequest& request, Console& console) {
  check_variants(request.experiment.variants);
  if (fs::exists(experiment_path(request.out))) {
    throw InputError(request.out.string(), "--out",
                     "already holds an experiment; --from makes its table, or name another folder");
  }
  write_experiment(request.out, request.experiment);
  return ExperimentRun(request, console).measure();
}

}  // namespace fusegate
