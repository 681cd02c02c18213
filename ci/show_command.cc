#include "ci/show_command.h"

#include <fmt/ostream.h>

#include "baselines/baseline.h"
#include "baselines/file_io.h"
#include "ci/benchmark_figures.h"
#include "ci/format.h"
#include "ci/report.h"
#include "ci/table.h"

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
  Table table({{"benchmark"},
               {"time", Align::kRight},
               {"spread", Align::kRight},
               {"launches", Align::kRight},
               {"TFLOP/s", Align::kRight},
               {"GB/s", Align::kRight},
               {"failure"}});
  for (const BenchmarkFigures& figures : benchmark_figures(run)) {
    table.add_row({figures.name, format_time_ns(figures.time_ns), format_fraction(figures.spread),
                   format_launches(figures.launches), format_rate(figures.tflops),
                   format_rate(figures.gbps), figures.failure});
  }
  fmt::print(console.out, "{}: {}\n", run.source, describe(run));
  for (const Doubt doubt : run.doubts) fmt::print(console.out, "note: {}\n", doubt_sentence(doubt));
  fmt::print(console.out, "\n{}", table.text());
  return ExitCode::kNoRegression;
}

}  // namespace fusegate
