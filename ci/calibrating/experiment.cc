#include "ci/calibrating/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/judging/judging.h"
#include "ci/measuring/measuring_run.h"
#include "ci/measuring/run_record.h"
#include "ci/processes/time_left.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

enum class InvocationEnd { kWell, kFailed, kInterrupted };

class ExperimentRun {
 public:
  ExperimentRun(const ExperimentRequest& request, Console& console)
      : request_(request),
        console_(console),
        planned_(request.variants.size() * static_cast<std::size_t>(request.invocations)),
        time_left_(static_cast<int>(planned_)),
        random_(request.seed ? *request.seed : std::random_device{}()) {}

  baselines::ExitCode measure() {
    bool all_well = true;
    const double start = steady_seconds();
    for (const auto& round :
         experiment_rounds(request_.variants.size(), request_.invocations, random_())) {
      if (request_.budget_s && steady_seconds() - start >= *request_.budget_s) {
        console_.err.print("fusegate: the time budget is used up\n");
        break;
      }
      for (const std::size_t variant : round) {
        const InvocationEnd end = run_one(request_.variants[variant]);
        if (end == InvocationEnd::kInterrupted) return baselines::ExitCode::kCouldNotJudge;
        all_well = all_well && end == InvocationEnd::kWell;
      }
    }
    return all_well ? baselines::ExitCode::kNoRegression : baselines::ExitCode::kCouldNotJudge;
  }

 private:
  InvocationEnd run_one(const Variant& variant) {
    announce(variant);
    const fs::path folder = request_.out / variant.folder();
    // A line a process is said here already, with the variant's name.
    std::ostringstream unheard;
    Console console{unheard, console_.err, console_.status_line, console_.columns};
    try {
      MeasuringRun run(measuring_request(variant, folder), console);
      run.measure({});
      return ended(folder, run.report());
    } catch (const baselines::InputError& error) {
      throw baselines::InputError("variant", variant.name, error.what());
    }
  }

  MeasuringRequest measuring_request(const Variant& variant, const fs::path& folder) {
    MeasuringRequest measuring{request_};
    const std::string program =
        request_.program.empty() ? default_bench_program().string() : request_.program;
    measuring.arms = {{folder, program}};
    measuring.invocations = measuring.max_invocations = 1;
    measuring.flags.insert(measuring.flags.end(), variant.flags.begin(), variant.flags.end());
    measuring.environment = keep_choices_environment({}, measuring.suite, false);
    measuring.budget_s.reset();  // of the whole experiment
    measuring.seed = random_();
    measuring.append = true;
    return measuring;
  }

  void announce(const Variant& variant) {
    const auto left = time_left_.seconds();
    console_.err.print("process {}/{}: {}{}\n", ++started_, planned_, variant.name,
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

baselines::ExitCode measure_experiment(const ExperimentRequest& request, Console& console) {
  check_variants(request.variants);
  if (fs::exists(experiment_path(request.out))) {
    throw baselines::InputError(
        request.out.string(), "--out",
        "already holds an experiment; --from makes its table, or name another folder");
  }
  write_experiment(request.out, {request.suite, request.flags, request.variants});
  return ExperimentRun(request, console).measure();
}

}  // namespace fusegate::ci
