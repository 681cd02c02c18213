#include "ci/show_command.h"

#include <fmt/ostream.h>

#include "ci/benchmark_figures.h"
#include "ci/format.h"
#include "ci/report.h"
#include "ci/table.h"

namespace fusegate {

ExitCode show_command(const ShowRequest& request, Console& console) {
  const Run run = load_run(request.paths);
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
