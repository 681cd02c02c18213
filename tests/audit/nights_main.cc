// Prints how many nights judge_nights() needs to find what simulated nights hold, as Markdown:
//
//   fusegate_nights_audit [RUNS [false|steps|family|creep]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/audit/made_up_year.h"
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
  const auto start = std::chrono::steady_clock::now();
  const Judged judged = judge_nights(nights, nights.back().unix_s);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} benchmarks x {} nights: {:.2f} s, {} changes\n", benchmarks, count,
             seconds.count(), judged.changes.size());
}

}  // namespace
}  // namespace fusegate::baselines::audit

int main(int argc, char** argv) {
  using namespace fusegate::baselines::audit;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string only = argc > 2 ? argv[2] : "";
  if (only.empty() || only == "false") print_false_alarms(runs);
  if (only.empty() || only == "steps") print_steps(runs, {100});
  if (only.empty() || only == "family") print_steps(runs, {96, 97, 98, 99, 100, 101});
  if (only.empty() || only == "creep") print_creep(runs);
  if (only == "list") {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(runs); ++seed) {
      for (const NightFigure figure : kFigures) {
        const auto nights = simulated_nights({.figure = figure}, seed);
        for (const auto& c :
             fusegate::baselines::judge_nights(nights, nights.back().unix_s).changes)
          fmt::print("{} {} {} {} {} {:.3f} n={} {}\n", static_cast<int>(figure), c.subject,
                     c.first_session, c.alarm_session, static_cast<int>(c.of_class), 100 * c.effect,
                     c.benchmarks.size(), c.reason);
      }
    }
  }
  if (only == "year") {
    const auto nights = made_up_year();
    const auto judged = fusegate::baselines::judge_nights(nights, end_of_made_up_year());
    for (const auto& c : judged.changes)
      fmt::print("{} {} {} {} {:.3f} [{:.3f} {:.3f}] n={} {}\n", c.subject, c.first_session,
                 c.alarm_session, static_cast<int>(c.of_class), 100 * c.effect, 100 * c.low,
                 100 * c.high, c.benchmarks.size(), c.reason);
    for (const auto& m : judged.missing)
      fmt::print("{} | {} | {} | {}\n", m.what, m.since, m.until, m.text);
  }
  if (only == "speed") print_speed(344, 365);
  if (only == "large") print_speed(10'000, 1'000);
}
