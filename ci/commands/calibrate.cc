#include "ci/commands/calibrate.h"

#include <fmt/chrono.h>
#include <fmt/ostream.h>

#include <chrono>
#include <set>

#include "baselines/calibration/calibrate.h"
#include "baselines/calibration/file.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/load_run.h"
#include "ci/calibrating/experiment.h"
#include "ci/calibrating/text.h"
#include "ci/commands/run.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/judging/judging.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr int kInvocations = 10;
constexpr int kInvocationsOfVariant = 8;

fs::path default_out() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return checkout_root(fs::current_path()) / ".fusegate" / "runs" /
         fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now)) / "calibration";
}

void require_suite(const CalibrateRequest& request) {
  if (request.suite.empty())
    throw baselines::InputError("--suite", "", "say which suite to measure");
}

void write_markdown(const CalibrateRequest& request, const std::vector<Section>& document,
                    Console& console) {
  if (!request.markdown) return;
  baselines::write_atomically(*request.markdown, markdown({.sections = document}));
  fmt::print(console.out, "wrote {}\n", request.markdown->string());
}

std::vector<baselines::Run> load_runs(const CalibrateRequest& request,
                                      const std::vector<fs::path>& folders) {
  std::vector<baselines::Run> runs;
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    // The same processes twice would pass for two runs that agree perfectly.
    if (!seen.insert(fs::weakly_canonical(folder)).second) {
      throw baselines::InputError(folder.string(), "--run", "named twice");
    }
    runs.push_back(baselines::load_run({folder}));
    if (!request.suite.empty()) runs.back().provenance.suite = request.suite;
    if (runs.back().provenance.suite.empty()) {
      throw baselines::InputError(folder.string(), "",
                                  "the run names no suite; name one with --suite");
    }
  }
  return runs;
}

baselines::ExitCode calibrate_runs(const CalibrateRequest& request,
                                   const std::vector<fs::path>& folders, Console& console) {
  const baselines::CalibrationPool pool = baselines::pool_runs(load_runs(request, folders));
  baselines::CalibrationOptions options;
  options.rule = gate_options({}, pool.cards.front().run).rule;
  options.comparisons = request.comparisons;
  options.side = request.side;
  options.seed = request.seed.value_or(options.seed);
  baselines::Calibration calibration = baselines::calibrate(pool, options);
  calibration.date = format_instant(std::chrono::system_clock::now());
  const std::vector<Section> document = calibration_document(calibration);
  console.out << terminal_text(document) << '\n';
  write_markdown(request, document, console);
  const fs::path path =
      baselines::calibration_path(request.store, calibration.environment, calibration.suite);
  baselines::write_atomically(path, baselines::calibration_text(calibration));
  fmt::print(console.out, "wrote {}\n", path.string());
  return baselines::ExitCode::kNoRegression;
}

// As two arms of one command, whose invocations may be compared as two runs' and also side by side.
baselines::ExitCode measure_and_calibrate(const CalibrateRequest& request, Console& console) {
  require_suite(request);
  const fs::path out = request.out.value_or(default_out());
  RunRequest run;
  run.suite = request.suite;
  run.invocations = (request.invocations.value_or(kInvocations) + 1) / 2;
  run.out = {out / "first", out / "second"};
  if (!request.program.empty()) run.programs = {request.program};
  run.flags = request.flags;
  run.timeout_s = request.timeout_s;
  run.budget_s = request.budget_s;
  run.seed = request.seed;
  if (run_command(run, console) != baselines::ExitCode::kNoRegression) {
    throw baselines::InputError(
        out.string(), "",
        fmt::format("not every process ended well, so nothing was calibrated; to use "
                    "what there is: fusegate calibrate --run {} --run {}",
                    run.out[0].string(), run.out[1].string()));
  }
  CalibrateRequest measured = request;
  measured.suite.clear();  // may name a file; the run has the suite's own name
  return calibrate_runs(measured, run.out, console);
}

baselines::ExitCode show_experiment(const CalibrateRequest& request, const fs::path& folder,
                                    Console& console) {
  const std::vector<Section> document{experiment_section(folder)};
  console.out << terminal_text(document);
  write_markdown(request, document, console);
  return baselines::ExitCode::kNoRegression;
}

baselines::ExitCode measure_variants(const CalibrateRequest& request, Console& console) {
  require_suite(request);
  if (!request.out) throw baselines::InputError("--out", "", "an experiment needs a folder");
  ExperimentRequest experiment;
  experiment.experiment = {request.suite, request.flags, {}};
  std::vector<Variant>& variants = experiment.experiment.variants;
  if (request.variants_file) variants = read_variants(*request.variants_file);
  for (const std::string& text : request.variants) {
    variants.push_back(parse_variant("--variant", text));
  }
  experiment.invocations = request.invocations.value_or(kInvocationsOfVariant);
  experiment.program = request.program;
  experiment.out = *request.out;
  experiment.timeout_s = request.timeout_s;
  experiment.budget_s = request.budget_s;
  experiment.seed = request.seed;
  const baselines::ExitCode measured = measure_experiment(experiment, console);
  show_experiment(request, *request.out, console);
  return measured;
}

}  // namespace

baselines::ExitCode calibrate_command(const CalibrateRequest& request, Console& console) {
  if (request.from) return show_experiment(request, *request.from, console);
  if (!request.variants.empty() || request.variants_file) return measure_variants(request, console);
  if (request.runs.empty()) return measure_and_calibrate(request, console);
  if (!request.flags.empty()) {
    throw baselines::InputError("--run", "",
                                "what follows -- is for measuring, and --run measures nothing");
  }
  return calibrate_runs(request, request.runs, console);
}

}  // namespace fusegate::ci
