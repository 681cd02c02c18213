#include <utility>

#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "baselines/record/load_run.h"
#include "ci/commands/reading/command_line.h"
#include "ci/gate/gate_document.h"
#include "ci/gate/gate_notes.h"
#include "ci/gate/verdict_sections.h"
#include "ci/sweep/figures_table.h"
#include "ci/sweep/stages_section.h"

namespace fusegate::ci {

namespace {

struct Shown {
  baselines::Run run;
  bool judges = false;  // it is a stored baseline, and no published figures
};

// A stored baseline is shown even where it may not be gated against: published figures are.
Shown load_for_showing(const ShowRequest& request) {
  const std::vector<std::filesystem::path>& paths = request.paths;
  const bool alone = paths.size() == 1 && std::filesystem::is_regular_file(paths.front());
  if (alone && baselines::is_baseline_text(baselines::read_file(paths.front()))) {
    baselines::Baseline baseline = baselines::read_baseline(paths.front());
    return {std::move(baseline.run), !baseline.published};
  }
  return {baselines::load_run(paths, request.unfinished)};
}

}  // namespace

void add_show(CommandLine& line) {
  auto [app, request] =
      line.add("show", "Print a run's figures", "fusegate show run", show_command);
  app.add_option("run", request.paths, "Run folders, run files or a stored baseline")
      ->type_name("PATH")
      ->required();
  add_unfinished(app, request.unfinished);
}

baselines::ExitCode show_command(const ShowRequest& request, Console& console) {
  const auto [run, judges] = load_for_showing(request);
  console.out.print("{}: {}\n", run.source, describe(run));
  for (const baselines::Warning warning : run.warnings)
    console.out.print("note: {}\n", baselines::warning_sentence(warning));
  for (const std::string& text : baselines::unfinished_texts(run))
    console.out.print("note: {}\n", text);
  const std::string few = judges ? few_processes_text(run) : "";
  for (const std::string& text :
       {unmeasured_text(run), skipped_text(run), left_out_text(run), few}) {
    if (!text.empty()) console.out.print("note: {}\n", text);
  }
  const std::vector<BenchmarkFigures> figures = benchmark_figures(run);
  const std::vector<Section> sections{{.table = figures_table(figures, measured_rates(figures))},
                                      stages_section(run),
                                      unmet_section(baselines::unmet_expectations(run))};
  console.out.lines('\n' + terminal_text(sections, console.out.style()));
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
