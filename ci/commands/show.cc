#include "ci/commands/show.h"

#include <fmt/ostream.h>

#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "ci/report/figures_table.h"
#include "ci/report/report.h"
#include "ci/report/stages_table.h"

namespace fusegate {

namespace {

// A stored baseline is shown even where it may not be gated against: published figures are.
Run load_for_showing(const std::vector<std::filesystem::path>& paths) {
  const bool alone = paths.size() == 1 && std::filesystem::is_regular_file(paths.front());
  if (alone && is_baseline_text(read_file(paths.front()))) return read_baseline(paths.front()).run;
  return load_run(paths);
}

}  // namespace

ExitCode show_command(const ShowRequest& request, Console& console) {
  const Run run = load_for_showing(request.paths);
  const Table table = figures_table(run, measured_rates(benchmark_figures(run)));
  fmt::print(console.out, "{}: {}\n", run.source, describe(run));
  for (const Doubt doubt : run.doubts) fmt::print(console.out, "note: {}\n", doubt_sentence(doubt));
  fmt::print(console.out, "\n{}", table.text());
  if (const Table stages = stages_table(run); !stages.empty()) {
    fmt::print(console.out, "\n{}\n\n{}", kStagesNote, stages.text());
  }
  if (const Table unmet = expectations_table(unmet_expectations(run)); !unmet.empty()) {
    fmt::print(console.out, "\n{}\n\n{}", kUnmetNote, unmet.text());
  }
  return ExitCode::kNoRegression;
}

}  // namespace fusegate
