#include "baselines/calibration/calibrate.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "baselines/calibration/file.h"
#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/load_run.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/format.h"
#include "ci/console/layout.h"
#include "ci/console/output_files.h"
#include "ci/gate/judging.h"
#include "ci/report/calibration_text.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

constexpr int kProcesses = 10;

std::vector<baselines::Run> load_runs(const CalibrateRequest& request,
                                      const std::vector<fs::path>& folders, Console& console) {
  std::vector<baselines::Run> runs;
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    // The same processes twice would pass for two runs that agree perfectly.
    if (!seen.insert(fs::weakly_canonical(folder)).second) {
      throw baselines::InputError(folder.string(), "--run", "named twice");
    }
    runs.push_back(baselines::load_run({folder}));
    for (const std::string& text : unfinished_texts(runs.back())) {
      console.err.print("fusegate: {}\n", text);
    }
    if (!request.measuring.suite.empty()) runs.back().provenance.suite = request.measuring.suite;
    if (runs.back().provenance.suite.empty()) {
      throw baselines::InputError(folder.string(), "",
                                  "the run names no suite; name one with --suite");
    }
  }
  return runs;
}

baselines::ExitCode calibrate_runs(const CalibrateRequest& request,
                                   const std::vector<fs::path>& folders, Console& console) {
  const baselines::CalibrationPool pool =
      baselines::pool_runs(load_runs(request, folders, console));
  baselines::CalibrationOptions options;
  options.rule = gate_options({}, pool.cards.front()).rule;
  options.processes = request.side;
  options.seed = request.measuring.seed.value_or(options.seed);
  baselines::Calibration calibration = baselines::calibrate(pool, options);
  calibration.date = format_instant(std::chrono::system_clock::now());
  const std::vector<Section> document = calibration_document(calibration);
  console.out.lines(terminal_text(document, console.out.style()) + '\n');
  write_output_files(
      {{request.markdown, [&] { return markdown({.sections = document}); }},
       {baselines::calibration_path(request.store, calibration.environment, calibration.suite),
        [&] { return baselines::calibration_text(calibration); }}},
      [&](const fs::path& path) { console.out.print("wrote {}\n", path.string()); });
  return baselines::ExitCode::kNoRegression;
}

// The folders that a path lacks, the innermost first.
std::vector<fs::path> missing_folders(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path folder = fs::absolute(path); !fs::exists(folder); folder = folder.parent_path()) {
    missing.push_back(folder);
  }
  return missing;
}

// Unless a process has written a run file into them.
void remove_made(const std::vector<fs::path>& folders) {
  if (folders.empty()) return;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folders.front(), ignored)) {
    const fs::path name = entry.path().filename();
    if (name.extension() == ".json" && name != "run.json") return;
  }
  fs::remove_all(folders.front(), ignored);
  // Those above it only where they are empty: others may have put something there since.
  for (const fs::path& folder : folders) fs::remove(folder, ignored);
}

// Leaves no folder where nothing could be measured: of a suite that does not exist, say.
RunResult measure(const RunRequest& run, const fs::path& out, Console& console) {
  const std::vector<fs::path> made = missing_folders(out);
  try {
    return measure_programs(run, console);
  } catch (...) {
    remove_made(made);
    throw;
  }
}

// As two runs of one command.
baselines::ExitCode measure_and_calibrate(const CalibrateRequest& request, Console& console) {
  if (request.measuring.suite.empty()) {
    throw baselines::InputError("--suite", "", "say which suite to measure");
  }
  const fs::path out = request.out.value_or(new_run_folder() / "calibration");
  RunRequest run{.measuring = request.measuring};
  run.processes.minimum = (request.processes.value_or(kProcesses) + 1) / 2;
  run.out = {out / "first", out / "second"};
  if (!request.program.empty()) run.programs = {request.program};
  if (!measure(run, out, console).all_well) {
    throw baselines::InputError(
        out.string(), "",
        fmt::format("not every process ended well, so nothing was calibrated; to use "
                    "what there is: fusegate calibrate --run {} --run {}",
                    run.out[0].string(), run.out[1].string()));
  }
  CalibrateRequest measured = request;
  measured.measuring.suite.clear();  // may name a file; the run has the suite's own name
  return calibrate_runs(measured, run.out, console);
}

// What measures; of no use where nothing is.
std::vector<CLI::Option*> add_process_flags(CLI::App& app, CalibrateRequest& request) {
  set_topic(app, kMeasuringTopic);
  const CLI::Range possible(2, 1000);
  return {
      app.add_option("--processes", request.processes,
                     "Processes to measure, half of them in each of two runs; by default 10")
          ->check(possible),
      add_former_name(app, "--invocations", request.processes)->check(possible),
      app.add_option("--program", request.program,
                     "Benchmark program; by default the fusegate_bench beside this program")
          ->type_name("PROGRAM"),
      app.add_option("--out", request.out,
                     "Folder of the runs first and second; by default a new one in .fusegate/runs "
                     "at the root of the git checkout")
          ->type_name("FOLDER"),
      app.add_option("--timeout-s", request.measuring.timeout_s,
                     "Longest time of one process, in seconds")
          ->check(CLI::PositiveNumber)
          ->capture_default_str(),
      app.add_option("--budget-s", request.measuring.budget_s,
                     "Start no further process after this many seconds")
          ->check(CLI::PositiveNumber)};
}

// What a calibration is made of and where it goes.
void add_draw_flags(CLI::App& app, CalibrateRequest& request) {
  set_topic(app, "What is calibrated");
  app.add_option("--side", request.side,
                 "Processes of the baseline and of the candidate, for which it says what is found")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  app.add_option("--seed", request.measuring.seed,
                 "Seed of the draws (by default 1) and of what is measured (by default random)");
  set_topic(app, kOutputTopic);
  app.add_option("--store", request.store,
                 "Folder of stored baselines, beside which it is stored; by default baselines at "
                 "the root of the git checkout")
      ->type_name("FOLDER");
  app.add_option("--markdown", request.markdown, "Write the tables as GitHub Markdown")
      ->type_name("FILE");
}

}  // namespace

void add_calibrate(CommandLine& line) {
  auto [app, request] = line.add(
      "calibrate",
      "Measure which effects this machine, suite and protocol can show, with unchanged code",
      "fusegate calibrate --suite pr --processes 10", calibrate_command);
  line.pass_on(app, request.measuring.flags);
  request.store = checkout_root(fs::current_path()) / "baselines";
  set_topic(app, kMeasuringTopic);
  app.add_option("--suite", request.measuring.suite,
                 "A suite's name or file to measure; with --run, the name to store under where it "
                 "is not the runs' own")
      ->type_name("SUITE");
  const std::vector<CLI::Option*> measuring = add_process_flags(app, request);
  set_topic(app, "What is calibrated");
  CLI::Option* runs = add_repeated(app, "--run", request.runs,
                                   "Calibrate from a run folder that exists already and is of one "
                                   "card; several may be of other cards and days")
                          ->type_name("FOLDER");
  for (CLI::Option* other : measuring) runs->excludes(other);
  add_draw_flags(app, request);
}

baselines::ExitCode calibrate_command(const CalibrateRequest& request, Console& console) {
  if (request.runs.empty()) return measure_and_calibrate(request, console);
  if (!request.measuring.flags.empty()) {
    throw baselines::InputError("--run", "", "takes no flags behind --, since it measures nothing");
  }
  return calibrate_runs(request, request.runs, console);
}

}  // namespace fusegate::ci
