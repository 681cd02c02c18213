// Prints how many nights judge_nights() needs to find what simulated nights hold, as Markdown:
//
//   fusegate_nights_audit RUNS [false|steps|family|creep|speed|large]
//
// Or judges figures that others made (docs/evidence/change_points.py), a night a line and a
// benchmark a column, as ratios to a fixed reference, and prints the first night (from 0), the
// night of the alarm and the columns of each change:
//
//   fusegate_nights_audit judge FILE.csv
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/audit/nights.h"

namespace fusegate::baselines::audit {
namespace {

constexpr NightFigure kFigures[] = {NightFigure::kReplay, NightFigure::kKnownCards,
                                    NightFigure::kNewCardsWithFactors, NightFigure::kNewCards};
constexpr int kFirst = 120, kAfter = 100;  // nights before a step, and that are waited for it

int quantile_of(const std::vector<NightOutcome>& outcomes, double share) {
  constexpr int kNever = 1'000'000;
  std::vector<int> nights;
  for (const NightOutcome& own : outcomes) {
    nights.push_back(own.nights_to_detection > 0 ? own.nights_to_detection : kNever);
  }
  std::ranges::sort(nights);
  const int found =
      nights[static_cast<std::size_t>(share * static_cast<double>(nights.size() - 1))];
  return found == kNever ? 0 : found;
}

std::string detection(const std::vector<NightOutcome>& outcomes) {
  const auto text = [](int nights) { return nights > 0 ? fmt::format("{}", nights) : "-"; };
  return fmt::format("{} ({})", text(quantile_of(outcomes, 0.5)), text(quantile_of(outcomes, 0.9)));
}

void print_false_alarms(int runs) {
  fmt::print(
      "| a night's figure | noise | nights | false alarms | in 100 nights |\n"
      "| --- | --- | ---: | ---: | ---: |\n");
  for (const bool heavy : {false, true}) {
    for (const NightFigure figure : kFigures) {
      const NightScenario scenario{.figure = figure, .has_heavy_tails = heavy};
      int alarms = 0;
      for (const NightOutcome& own : judge_simulated(scenario, runs)) alarms += own.false_alarms;
      const int nights = runs * scenario.nights;
      fmt::print("| {} | {} | {} | {} | {:.2f} |\n", night_figure_name(figure),
                 heavy ? "t, 3" : "normal", nights, alarms, 100.0 * alarms / nights);
      std::fflush(stdout);
    }
  }
}

void print_steps(int runs, const std::vector<std::size_t>& stepping) {
  fmt::print(
      "| a night's figure, {} stepping | 0.3 % | 0.5 % | 1 % | 2 % |\n"
      "| --- | --- | --- | --- | --- |\n",
      stepping.size());
  for (const NightFigure figure : kFigures) {
    fmt::print("| {} |", night_figure_name(figure));
    for (const double step : {0.003, 0.005, 0.01, 0.02}) {
      const auto outcomes = judge_simulated({.figure = figure,
                                             .nights = kFirst + kAfter,
                                             .stepping = stepping,
                                             .first_night = kFirst,
                                             .step = step},
                                            runs);
      fmt::print(" {} |", detection(outcomes));
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

void print_creep(int runs) {
  constexpr double kCreep = 0.0001;
  fmt::print("| a night's figure, one creeping by 0.01 % a night | found at |\n| --- | --- |\n");
  for (const NightFigure figure : kFigures) {
    const auto outcomes = judge_simulated({.figure = figure,
                                           .nights = kFirst + kAfter,
                                           .stepping = {100},
                                           .first_night = kFirst,
                                           .creep = kCreep},
                                          runs);
    fmt::print("| {} | {:.2f} % ({:.2f} %) |\n", night_figure_name(figure),
               100 * kCreep * quantile_of(outcomes, 0.5),
               100 * kCreep * quantile_of(outcomes, 0.9));
    std::fflush(stdout);
  }
}

void print_speed(int benchmarks, int count) {
  const auto nights = simulated_nights(
      {.figure = NightFigure::kKnownCards, .benchmarks = benchmarks, .nights = count}, 1);
  // On a busy machine the processor time says more than the clock on the wall.
  const std::clock_t start = std::clock();
  const Judged judged = judge_nights(nights, nights.back().unix_s);
  const double seconds =
      static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
  fmt::print("{} benchmarks x {} nights: {:.2f} s of processor time, {} changes\n", benchmarks,
             count, seconds, judged.changes.size());
}

std::vector<Night> read_nights(const std::string& path) {
  std::vector<Night> nights;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Night night{.session = fmt::format("{}", nights.size()),
                .unix_s = 86'400 * static_cast<std::int64_t>(nights.size())};
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      NightBenchmark own{.name = fmt::format("{:05}", night.benchmarks.size()), .processes = 5};
      own.over_replay = {std::log(std::stod(cell)), kUnknown};
      night.benchmarks.push_back(std::move(own));
    }
    nights.push_back(std::move(night));
  }
  return nights;
}

void judge_file(const std::string& path) {
  const auto nights = read_nights(path);
  for (const ChangePoint& change : judge_nights(nights, 0).changes) {
    fmt::print("{},{}", change.first_session, change.alarm_session);
    for (const std::string& name : change.benchmarks) fmt::print(",{}", std::stoi(name));
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace fusegate::baselines::audit

int main(int argc, char** argv) {
  using namespace fusegate::baselines::audit;
  if (argc > 2 && std::string(argv[1]) == "judge") {
    judge_file(argv[2]);
    return 0;
  }
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string only = argc > 2 ? argv[2] : "";
  if (only.empty() || only == "false") print_false_alarms(runs);
  if (only.empty() || only == "steps") print_steps(runs, {100});
  if (only.empty() || only == "family") print_steps(runs, {96, 97, 98, 99, 100, 101});
  if (only.empty() || only == "creep") print_creep(runs);
  if (only == "speed") print_speed(344, 365);
  if (only == "large") print_speed(10'000, argc > 3 ? std::atoi(argv[3]) : 1'000);
}
