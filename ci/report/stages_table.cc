#include "ci/report/stages_table.h"

#include <string>

#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

void add_rows(const std::string& benchmark, const baselines::StageTimes& times, Table* table) {
  for (const baselines::StageTime& stage : times.stages) {
    table->add_row({benchmark, stage.stage.empty() ? "outside of stages" : stage.stage,
                    std::to_string(stage.kernels), std::to_string(stage.memory_operations),
                    format_time_ns(stage.sum_ns), format_time_ns(stage.own_ns),
                    format_share(times.share(stage.own_ns))});
  }
  table->add_row({benchmark, "gaps", "", "", "", format_time_ns(times.gap_ns),
                  format_share(times.share(times.gap_ns))});
}

}  // namespace

Table stages_table(const baselines::Run& run) {
  Table table({{"benchmark", Align::kLeft, true},
               {"stage", Align::kLeft, true},
               {"kernels", Align::kRight},
               {"memory operations", Align::kRight},
               {"sum", Align::kRight},
               {"own", Align::kRight},
               {"share", Align::kRight}});
  for (const baselines::BenchmarkSeries& series : run.benchmarks) {
    if (series.stage_times) add_rows(series.name, *series.stage_times, &table);
  }
  return table;
}

Table expectations_table(const std::vector<baselines::UnmetExpectation>& unmet) {
  Table table({{"benchmark", Align::kLeft, true}, {"part"}, {"expected"}, {"seen"}});
  for (const baselines::UnmetExpectation& one : unmet) {
    for (const baselines::ExpectationPart& part : one.expectation.parts) {
      if (!part.met) table.add_row({one.benchmark, part.part, part.expected, part.seen});
    }
  }
  return table;
}

}  // namespace fusegate::ci
