#include "ci/calibrating/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/calibration/cards.h"
#include "ci/console/format.h"
#include "ci/report/report.h"

namespace fusegate::ci {
namespace {

// Of a commit's hash: what tells it from others, as in a report.
constexpr std::size_t kShownOfCommit = 12;
constexpr std::size_t kMostNoisyShown = 10;

std::string rule_text(const baselines::Rule& rule) {
  return fmt::format("above {}, FDR {}", format_fraction(tested_effect(rule)),
                     format_fraction(rule.false_discovery_rate));
}

std::string share_text(const baselines::Rate& rate) {
  return rate.of > 0 ? fmt::format("{} of {}", format_share(rate.share()), rate.of) : "-";
}

std::string bounds_text(const baselines::Rate& rate) {
  const baselines::Interval bounds = rate.bounds();
  return fmt::format("[{:.2f}, {:.2f}] %", bounds.low * 100, bounds.high * 100);
}

int total_invocations(const baselines::Calibration& calibration) {
  int sum = 0;
  for (const baselines::CalibratedRun& run : calibration.runs) sum += run.invocations;
  return sum;
}

std::size_t count_cards(const baselines::Calibration& calibration) {
  std::set<std::string> cards;
  for (const baselines::CalibratedRun& run : calibration.runs) cards.insert(run.device_uuid);
  return cards.size();
}

std::string left_out_text(const baselines::Calibration& calibration) {
  std::string text = fmt::format("{} left out, failed or missing in some process:",
                                 format_count(calibration.left_out.size(), "benchmark"));
  for (const std::string& name : calibration.left_out) text += ' ' + name;
  return text;
}

Section provenance_section(const baselines::Calibration& calibration) {
  Section section;
  section.sentences.push_back(fmt::format(
      "Suite {}: {} on {}, {}.", calibration.suite,
      format_count(static_cast<std::size_t>(total_invocations(calibration)), "invocation"),
      format_count(count_cards(calibration), "card"),
      format_count(calibration.benchmarks.size(), "benchmark")));
  section.sentences.push_back("Environment: " + environment_text(calibration.environment) + ".");
  section.sentences.push_back("Protocol: " + calibration.protocol.dump() + ".");
  for (const baselines::Doubt doubt : calibration.doubts) {
    section.sentences.push_back(std::string(baselines::doubt_sentence(doubt)));
  }
  if (!calibration.left_out.empty()) section.sentences.push_back(left_out_text(calibration));
  section.table = Table({{"run"}, {"card"}, {"commit"}, {"date"}, {"invocations", Align::kRight}});
  std::set<std::string> commits;
  for (const baselines::CalibratedRun& run : calibration.runs) {
    commits.insert(run.commit);
    section.table.add_row({run.source, run.device_uuid,
                           run.commit.substr(0, kShownOfCommit) + (run.dirty ? " (dirty)" : ""),
                           run.date, std::to_string(run.invocations)});
  }
  if (commits.size() > 1) {
    section.sentences.push_back(
        fmt::format("The runs are of {} commits: that what they measure is the same code is taken "
                    "for granted.",
                    commits.size()));
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
  Section section;
  section.title = "Spread between processes of a card";
  section.sentences = {"Relative standard deviation of a benchmark from process to process."};
  section.table = Table({{"kernels"},
                         {"in"},
                         {"benchmarks", Align::kRight},
                         {"median", Align::kRight},
                         {"90 %", Align::kRight},
                         {"max", Align::kRight},
                         {"rms", Align::kRight},
                         {"target", Align::kRight},
                         {"within target", Align::kRight}});
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
  Section section;
  section.title = "Furthest above the target";
  section.table = Table({{"benchmark"},
                         {"time", Align::kRight},
                         {"spread", Align::kRight},
                         {"in cycles", Align::kRight},
                         {"at equal clock", Align::kRight},
                         {"smallest detectable", Align::kRight}});
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

void add_alarms(const baselines::Rule& rule, std::string_view sides,
                const baselines::FalseAlarms& alarms, Section& section) {
  if (alarms.regressions.of == 0) return;
  section.table.add_row({rule_text(rule), std::string(sides), std::to_string(alarms.regressions.of),
                         std::to_string(alarms.regressions.count), bounds_text(alarms.regressions),
                         std::to_string(alarms.improvements.count),
                         bounds_text(alarms.improvements)});
}

std::string sharing_text(const baselines::Calibration& calibration) {
  const auto text = [](double possible, std::string_view how) {
    return possible > 0 ? fmt::format("{:.6g} different ones can be drawn {}", possible, how) : "";
  };
  const std::string within = text(calibration.possible_draws, "from one card");
  const std::string pairs = text(calibration.possible_side_by_side, "side by side");
  return fmt::format("These share invocations, {} in all{}{}{}{}: the true intervals are wider.",
                     total_invocations(calibration),
                     within.empty() && pairs.empty() ? "" : ", of which ", within,
                     within.empty() || pairs.empty() ? "" : ", ", pairs);
}

Section false_alarm_section(const baselines::Calibration& calibration) {
  Section section;
  section.title = "False alarms";
  section.table = Table({{"rule"},
                         {"sides"},
                         {"comparisons", Align::kRight},
                         {"with a regression", Align::kRight},
                         {"95 %", Align::kRight},
                         {"with an improvement", Align::kRight},
                         {"95 %", Align::kRight}});
  for (const baselines::RuleCalibration& own : calibration.rules) {
    add_alarms(own.rule, "drawn from one card", own.same_card.alarms, section);
    add_alarms(own.rule, "drawn side by side", own.side_by_side.alarms, section);
    add_alarms(own.rule, "drawn from two cards", own.other_card, section);
    add_alarms(own.rule, "whole runs, one card", own.same_card_runs, section);
    add_alarms(own.rule, "whole runs, two cards", own.other_card_runs, section);
  }
  if (section.table.empty()) {
    section.sentences = {"Nothing to compare: it takes four processes of one card."};
    return section;
  }
  section.sentences = {
      fmt::format(
          "Unchanged code against itself, up to {} invocations a side; intervals by Clopper "
          "and Pearson.",
          calibration.side),
      "They hold for independent comparisons. " + sharing_text(calibration)};
  return section;
}

void add_detection(const baselines::Rule& rule, std::string_view sides,
                   const baselines::DrawnCalibration& own, Section& section) {
  for (const baselines::Detection& slowed : own.detection) {
    std::vector<Cell> row{rule_text(rule), std::string(sides), format_fraction(slowed.slowdown)};
    for (const baselines::Rate& rate : slowed.found) row.push_back(share_text(rate));
    row.push_back(share_text(slowed.outside));
    section.table.add_row(std::move(row));
  }
}

Section detection_section(const baselines::Calibration& calibration) {
  Section section;
  section.title = "Slowdowns found";
  section.sentences = {
      "One implementation's benchmarks of one number format slowed by that much in time and in "
      "cycles, all others left as they are. Share of the slowed that are called, and comparisons "
      "in which another was called slower."};
  std::vector<Column> columns{{"rule"}, {"sides"}, {"slowed by", Align::kRight}};
  for (const baselines::DurationClass duration : baselines::kDurationClasses) {
    columns.push_back({std::string(baselines::duration_class_title(duration)), Align::kRight});
  }
  columns.push_back({"others called", Align::kRight});
  section.table = Table(std::move(columns));
  for (const baselines::RuleCalibration& own : calibration.rules) {
    add_detection(own.rule, "drawn from one card", own.same_card, section);
    add_detection(own.rule, "drawn side by side", own.side_by_side, section);
  }
  return section;
}

void add_detectable(const baselines::Rule& rule, std::string_view sides,
                    const baselines::DrawnCalibration& own, Section& section) {
  for (const baselines::DurationClass duration : baselines::kDurationClasses) {
    const baselines::Quantiles& quantiles =
        own.smallest_detectable[baselines::class_index(duration)];
    if (quantiles.benchmarks == 0) continue;
    section.table.add_row({rule_text(rule), std::string(sides),
                           std::string(baselines::duration_class_title(duration)),
                           std::to_string(quantiles.benchmarks), format_spread(quantiles.median),
                           format_spread(quantiles.p90), format_spread(quantiles.max)});
  }
}

Section detectable_section(const baselines::Calibration& calibration) {
  Section section;
  section.title = "Smallest detectable effect";
  section.sentences = {
      "Found nine times in ten where a tenth of the suite is slower by as much; each benchmark's "
      "median over the draws."};
  section.table = Table({{"rule"},
                         {"sides"},
                         {"kernels"},
                         {"benchmarks", Align::kRight},
                         {"median", Align::kRight},
                         {"90 %", Align::kRight},
                         {"max", Align::kRight}});
  for (const baselines::RuleCalibration& own : calibration.rules) {
    add_detectable(own.rule, "drawn from one card", own.same_card, section);
    add_detectable(own.rule, "drawn side by side", own.side_by_side, section);
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
  Section section;
  section.title = "Between cards";
  const baselines::Interval factors = baselines::deviation_factors(between.cards - 1);
  section.sentences = {
      fmt::format("Standard deviation between the means of {} cards, less the noise of the means. "
                  "What differs between the occasions on which the cards were measured is in it.",
                  between.cards),
      fmt::format(
          "Where kernels share what makes a card faster, {} tell no more of the true figure "
          "than that it lies between {:.2g} and {:.2g} times these (95 %).",
          format_count(static_cast<std::size_t>(between.cards), "card"), factors.low,
          factors.high)};
  section.table = Table({{"kernels"},
                         {"benchmarks", Align::kRight},
                         {"in time", Align::kRight},
                         {"in cycles", Align::kRight},
                         {"in time at equal clock", Align::kRight}});
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
                                noisy_section(calibration), false_alarm_section(calibration)};
  for (Section section : {detection_section(calibration), detectable_section(calibration)}) {
    if (!section.table.empty()) document.push_back(std::move(section));
  }
  if (calibration.between_card) document.push_back(between_card_section(*calibration.between_card));
  return document;
}

}  // namespace fusegate::ci
