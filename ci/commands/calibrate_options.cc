#include "ci/commands/calibrate_options.h"

namespace fusegate::ci {
namespace {

template <typename T>
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<T>& values,
                          const std::string& description) {
  return app.add_option(name, values, description)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

// What measures; of no use where nothing is.
std::vector<CLI::Option*> add_measuring(CLI::App& app, CalibrateRequest& request) {
  return {
      app.add_option("--invocations", request.invocations,
                     "Processes to measure, half of them in each of two runs, or processes a "
                     "variant; by default 10, or 8")
          ->check(CLI::Range(2, 1000)),
      app.add_option("--program", request.program,
                     "Benchmark program; by default the fusegate_bench beside this program"),
      app.add_option("--out", request.out,
                     "Folder of the runs first and second, or of an experiment; by default a new "
                     "one in .fusegate/runs at the root of the git checkout"),
      app.add_option("--timeout-s", request.timeout_s, "Longest time of one process")
          ->check(CLI::PositiveNumber)
          ->capture_default_str(),
      app.add_option("--budget-s", request.budget_s, "Start no further process after this long")
          ->check(CLI::PositiveNumber)};
}

// What a calibration is made of and where it goes.
void add_calibrating(CLI::App& app, CalibrateRequest& request) {
  app.add_option("--comparisons", request.comparisons, "Random comparisons of unchanged code")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--side", request.side, "Processes on each side of a comparison")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_option("--store", request.store,
                 "Folder of stored baselines, beside which it is stored; by default baselines at "
                 "the root of the git checkout");
}

void exclude(CLI::Option* option, const std::vector<CLI::Option*>& others) {
  for (CLI::Option* other : others) option->excludes(other);
}

}  // namespace

void add_calibrate_options(CLI::App& app, CalibrateRequest& request) {
  CLI::Option* suite = app.add_option("--suite", request.suite,
                                      "A suite's name or file to measure; with --run, the name to "
                                      "store under where it is not the runs' own");
  const std::vector<CLI::Option*> measuring = add_measuring(app, request);
  CLI::Option* runs = add_repeated(app, "--run", request.runs,
                                   "Calibrate by a run measured already, all of one card: its "
                                   "folder; several may be of other cards and days");
  CLI::Option* variant =
      add_repeated(app, "--variant", request.variants,
                   "Compare protocols instead: \"NAME: FLAGS\" of the benchmark program");
  CLI::Option* file = app.add_option("--variants", request.variants_file,
                                     "The same from a file, one a line, # for comments");
  CLI::Option* from = app.add_option("--from", request.from,
                                     "Print the table of an earlier experiment's --out folder");
  exclude(runs, measuring);
  exclude(runs, {variant, file, from});
  exclude(from, measuring);
  exclude(from, {variant, file, suite});
  add_calibrating(app, request);
  app.add_option("--seed", request.seed,
                 "Of the draws, 1 by default, and of what is measured, random by default");
  app.add_option("--markdown", request.markdown, "Write the tables as GitHub Markdown");
  app.footer("What follows -- is passed on to the benchmark program.");
}

}  // namespace fusegate::ci
