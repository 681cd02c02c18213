#include "ci/report/calibration_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/calibration/cards.h"
#include "ci/console/format.h"
#include "ci/report/report.h"

namespace fusegate::ci {
namespace {

// Of a commit's hash: as many digits as a report shows.
constexpr std::size_t kShownOfCommit = 12;
constexpr std::size_t kMostNoisyShown = 10;

// The first columns are texts, the others figures.
Table table_of(std::size_t texts, const std::vector<std::string>& headers) {
  std::vector<Column> columns;
  for (const std::string& header : headers) {
    columns.push_back({header, columns.size() < texts ? Align::kLeft : Align::kRight});
  }
  return Table(std::move(columns));
}

std::string rule_text(const baselines::Rule& rule) {
  return fmt::format("above {}, FDR {}", format_fraction(tested_effect(rule)),
                     format_fraction(rule.false_discovery_rate));
}

std::string bounds_text(const baselines::Rate& rate) {
  const baselines::Interval bounds = rate.bounds();
  return fmt::format("[{:.2f}, {:.2f}] %", bounds.low * 100, bounds.high * 100);
}

int total_processes(const baselines::Calibration& calibration) {
  int sum = 0;
  for (const baselines::CalibratedRun& run : calibration.runs) sum += run.processes;
  return sum;
}

std::size_t count_cards(const baselines::Calibration& calibration) {
  std::set<std::string> cards;
  for (const baselines::CalibratedRun& run : calibration.runs) cards.insert(run.device_uuid);
  return cards.size();
}

std::string left_out_text(const baselines::Calibration& calibration) {
  return fmt::format("{} left out, failed or missing in some process: {}",
                     format_count(calibration.left_out.size(), "benchmark"),
                     fmt::join(calibration.left_out, " "));
}

Section provenance_section(const baselines::Calibration& calibration) {
  Section section{
      .sentences = {fmt::format("Suite {}: {} processes on {}, {}.", calibration.suite,
                                total_processes(calibration),
                                format_count(count_cards(calibration), "card"),
                                format_count(calibration.benchmarks.size(), "benchmark")),
                    "Environment: " + environment_text(calibration.environment) + ".",
                    "Protocol: " + calibration.protocol.dump() + "."},
      .table = table_of(4, {"run", "card", "commit", "date", "processes"})};
  for (const baselines::Warning warning : calibration.warnings) {
    section.sentences.emplace_back(baselines::warning_sentence(warning));
  }
  if (!calibration.left_out.empty()) section.sentences.push_back(left_out_text(calibration));
  std::set<std::string> commits;
  for (const baselines::CalibratedRun& run : calibration.runs) {
    commits.insert(run.commit);
    section.table.add_row({run.source, run.device_uuid,
                           run.commit.substr(0, kShownOfCommit) + (run.dirty ? " (dirty)" : ""),
                           run.date, std::to_string(run.processes)});
  }
  if (commits.size() > 1) {
    section.sentences.push_back(fmt::format(
        "The runs are of {} commits, which are assumed to have the same code.", commits.size()));
  }
  return section;
}

std::vector<Cell> spread_row(baselines::DurationClass duration, std::string_view quantity,
                             const baselines::SpreadSummary& summary) {
  const baselines::Quantiles& quantiles = summary.quantiles;
  return {std::string(baselines::duration_class_title(duration)),
          std::string(quantity),
          std::to_string(quantiles.benchmarks),
          format_spread(quantiles.median),
          format_spread(quantiles.p90),
          format_spread(quantiles.max),
          format_spread(summary.rms),
          format_fraction(baselines::spread_target(duration)),
          fmt::format("{} of {}", summary.within_target, quantiles.benchmarks)};
}

Section spread_section(const baselines::Calibration& calibration) {
  Section section{
      .title = "Spread between processes of a card",
      .sentences = {"Relative standard deviation of a benchmark from process to process."},
      .table = table_of(2, {"kernels", "in", "benchmarks", "median", "90 %", "max", "rms", "target",
                            "within target"})};
  for (const baselines::DurationClass duration : baselines::kDurationClasses) {
    const baselines::ClassSpread& spread = calibration.spread[baselines::class_index(duration)];
    if (spread.time.quantiles.benchmarks == 0) continue;
    section.table.add_row(spread_row(duration, "time", spread.time));
    if (spread.cycles.quantiles.benchmarks == 0) continue;
    section.table.add_row(spread_row(duration, "cycles", spread.cycles));
    section.table.add_row(spread_row(duration, "time at equal clock", spread.equal_clock));
  }
  return section;
}

// By how far what the gate tests is above the target, relative to it.
Section noisy_section(const baselines::Calibration& calibration) {
  const auto excess = [](const baselines::BenchmarkCalibration& benchmark) {
    const double tested = std::isfinite(benchmark.spread_equal_clock) ? benchmark.spread_equal_clock
                                                                      : benchmark.spread_time;
    return tested / baselines::spread_target(baselines::duration_class(benchmark.time_ns));
  };
  std::vector<baselines::BenchmarkCalibration> noisy;
  std::ranges::copy_if(calibration.benchmarks, std::back_inserter(noisy),
                       [&](const baselines::BenchmarkCalibration& b) { return excess(b) > 1; });
  std::ranges::stable_sort(noisy, std::greater<>{}, excess);
  Section section{.title = "Furthest above the target",
                  .table = table_of(1, {"benchmark", "time", "spread", "in cycles",
                                        "at equal clock", "smallest detectable"})};
  for (const baselines::BenchmarkCalibration& benchmark : noisy) {
    if (section.table.rows().size() == kMostNoisyShown) break;
    section.table.add_row(
        {benchmark.name, format_time_ns(benchmark.time_ns), format_spread(benchmark.spread_time),
         format_spread(benchmark.spread_cycles), format_spread(benchmark.spread_equal_clock),
         format_spread(benchmark.smallest_detectable)});
  }
  section.sentences = {
      fmt::format("{} of {} benchmarks spread by more than their class's target{}", noisy.size(),
                  calibration.benchmarks.size(),
                  noisy.size() > section.table.rows().size() ? "; the first of them:" : ".")};
  return section;
}

std::string alarms_text(const baselines::Calibration& calibration) {
  const baselines::FalseAlarms& alarms = calibration.alarms;
  return fmt::format(
      "False alarms: of {} random comparisons, which share the {} processes, {} had a regression "
      "(95 % interval {} if they were independent) and {} an improvement ({}).",
      alarms.regressions.of, total_processes(calibration), alarms.regressions.count,
      bounds_text(alarms.regressions), alarms.improvements.count, bounds_text(alarms.improvements));
}

Section detectable_section(const baselines::Calibration& calibration) {
  Section section{.title = "Smallest detectable effect",
                  .table = table_of(1, {"kernels", "benchmarks", "median", "90 %", "max"})};
  if (calibration.alarms.regressions.of == 0) {
    section.sentences = {fmt::format(
        "Unknown: no card has {} processes, half of them for each side of a comparison. Measure "
        "more with --processes.",
        2 * baselines::kFewestProcesses)};
    return section;
  }
  section.sentences = {
      fmt::format("Found nine times in ten where a tenth of the suite is slower by as much, by {} "
                  "processes against {} of the same card ({}).",
                  calibration.options.processes, calibration.options.processes,
                  rule_text(calibration.options.rule)),
      alarms_text(calibration)};
  for (const baselines::DurationClass duration : baselines::kDurationClasses) {
    const baselines::Quantiles& own =
        calibration.smallest_detectable[baselines::class_index(duration)];
    if (own.benchmarks == 0) continue;
    section.table.add_row({std::string(baselines::duration_class_title(duration)),
                           std::to_string(own.benchmarks), format_spread(own.median),
                           format_spread(own.p90), format_spread(own.max)});
  }
  return section;
}

void add_card_spread(std::string_view what, const baselines::CardSpread& spread, Section& section) {
  if (spread.benchmarks == 0) return;
  section.table.add_row({std::string(what), std::to_string(spread.benchmarks),
                         format_spread(spread.time), format_spread(spread.cycles),
                         format_spread(spread.equal_clock)});
}

Section between_card_section(const baselines::BetweenCard& between) {
  const baselines::Interval factors = baselines::deviation_factors(between.cards - 1);
  Section section{
      .title = "Between cards",
      .sentences =
          {fmt::format("Standard deviation between the means of {} cards, less the noise of the "
                       "means. What differs between the occasions on which the cards were measured "
                       "is in it.",
                       between.cards),
           fmt::format("Where what makes a card faster is common to all kernels, the true figure "
                       "lies between {:.2g} and {:.2g} times these (95 %).",
                       factors.low, factors.high)},
      .table =
          table_of(1, {"kernels", "benchmarks", "in time", "in cycles", "in time at equal clock"})};
  add_card_spread("all", between.all, section);
  for (const baselines::DurationClass duration : baselines::kDurationClasses) {
    add_card_spread(baselines::duration_class_title(duration),
                    between.classes[baselines::class_index(duration)], section);
  }
  add_card_spread("compute-bound", between.compute_bound, section);
  add_card_spread("memory-bound", between.memory_bound, section);
  return section;
}

}  // namespace

std::string format_spread(double spread) {
  return std::isfinite(spread) ? fmt::format("{:.3f} %", spread * 100) : "-";
}

std::vector<Section> calibration_document(const baselines::Calibration& calibration) {
  std::vector<Section> document{provenance_section(calibration), spread_section(calibration),
                                noisy_section(calibration), detectable_section(calibration)};
  if (calibration.between_card) document.push_back(between_card_section(*calibration.between_card));
  return document;
}

}  // namespace fusegate::ci
