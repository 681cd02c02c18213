#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "baselines/calibration/spread.h"
#include "baselines/record/load_run.h"
#include "baselines/statistics/statistics.h"
#include "ci/calibrating/experiment.h"
#include "ci/calibrating/text.h"
#include "ci/console/format.h"
#include "ci/measuring/run_record.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

struct VariantFigures {
  double seconds = std::numeric_limits<double>::quiet_NaN();  // of one, the median
  baselines::PooledCard card;
  std::vector<baselines::BenchmarkCalibration> benchmarks;
};

double median_seconds(const fs::path& folder) {
  std::vector<double> seconds;
  for (const InvocationRecord& invocation : read_run_record(folder).invocations) {
    if (invocation.failure.empty()) seconds.push_back(invocation.seconds);
  }
  return baselines::median(std::move(seconds));
}

VariantFigures figures_of(const fs::path& folder) {
  VariantFigures figures;
  if (last_invocation_in(folder) == 0) return figures;
  figures.card = std::move(baselines::pool_runs({baselines::load_run({folder})}).cards.front());
  if (fs::exists(folder / "run.json")) figures.seconds = median_seconds(folder);
  figures.benchmarks = baselines::benchmark_spreads({figures.card});
  return figures;
}

using Durations = std::map<std::string, double>;

Durations durations_of(const VariantFigures& figures) {
  Durations durations;
  for (const baselines::BenchmarkCalibration& benchmark : figures.benchmarks) {
    durations.emplace(benchmark.name, benchmark.time_ns);
  }
  return durations;
}

// Geometric mean over the benchmarks that both have, less one.
double change_against(const Durations& first, const VariantFigures& figures) {
  double sum = 0;
  int count = 0;
  for (const baselines::BenchmarkCalibration& benchmark : figures.benchmarks) {
    const auto found = first.find(benchmark.name);
    if (found == first.end()) continue;
    sum += std::log(benchmark.time_ns / found->second);
    ++count;
  }
  return std::expm1(sum / count);
}

// By the first variant's durations, so that every row is of the same kernels.
std::vector<baselines::DurationClass> classes_of(const Durations& first,
                                                 const VariantFigures& figures) {
  std::vector<baselines::DurationClass> classes;
  for (const baselines::BenchmarkCalibration& benchmark : figures.benchmarks) {
    const auto found = first.find(benchmark.name);
    classes.push_back(
        baselines::duration_class(found == first.end() ? benchmark.time_ns : found->second));
  }
  return classes;
}

std::string spread_cell(const baselines::SpreadSummary& summary, double error) {
  if (!std::isfinite(summary.rms)) return "-";
  return fmt::format("{:.3f}{} / {:.3f}", summary.rms * 100,
                     std::isfinite(error) ? fmt::format(" ± {:.3f}", error * 100) : "",
                     summary.quantiles.median * 100);
}

std::vector<Cell> row_of(const Variant& variant, const VariantFigures& figures,
                         const Durations& first) {
  const std::vector<baselines::DurationClass> classes = classes_of(first, figures);
  const baselines::PerClass<baselines::ClassSpread> spreads =
      baselines::class_spreads(figures.benchmarks, classes);
  const baselines::PerClass<baselines::SpreadError> errors =
      baselines::rms_errors(figures.card, classes);
  std::vector<Cell> row{
      variant.name, std::to_string(figures.card.invocations()),
      std::isfinite(figures.seconds) ? fmt::format("{:.1f}", figures.seconds) : "-"};
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    row.push_back(spread_cell(spreads[i].time, errors[i].time));
  }
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    row.push_back(spread_cell(spreads[i].cycles, errors[i].cycles));
  }
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    row.push_back(spread_cell(spreads[i].equal_clock, errors[i].equal_clock));
  }
  row.push_back(format_effect(change_against(first, figures)));
  std::string flags;
  for (const std::string& flag : variant.flags) flags += (flags.empty() ? "" : " ") + flag;
  row.push_back(flags);
  return row;
}

}  // namespace

Section experiment_section(const fs::path& folder) {
  const Experiment experiment = read_experiment(folder);
  Section section;
  std::string flags;
  for (const std::string& flag : experiment.flags) flags += " " + flag;
  section.sentences = {
      fmt::format(
          "Suite {}{}. Relative standard deviation of a benchmark from process to process, in "
          "%: rms ± its standard error / median over the benchmarks of a class.",
          experiment.suite, flags),
      "Classes are by the times of the first variant, against which the mean change of time is."};
  std::vector<Column> columns{
      {"variant"}, {"invocations", Align::kRight}, {"s each", Align::kRight}};
  for (const char* quantity : {"time ", "cycles ", "equal clock "}) {
    for (const baselines::DurationClass duration : baselines::kDurationClasses) {
      columns.push_back(
          {std::string(quantity) + std::string(baselines::duration_class_title(duration)),
           Align::kRight});
    }
  }
  columns.push_back({"change", Align::kRight});
  columns.push_back({"flags"});
  section.table = Table(std::move(columns));
  Durations first;
  for (const Variant& variant : experiment.variants) {
    const VariantFigures figures = figures_of(folder / variant.folder());
    if (first.empty()) first = durations_of(figures);
    section.table.add_row(row_of(variant, figures, first));
  }
  return section;
}

}  // namespace fusegate::ci
