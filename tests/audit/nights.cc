#include "tests/audit/nights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "baselines/io/parallel.h"

namespace fusegate::baselines::audit {
namespace {

constexpr std::int64_t kDay_s = 86'400, kStart_s = 1'767'225'600;  // 2026-01-01
constexpr int kProcesses = 5, kCards = 8, kFactors = 3;

struct Spreads {
  double replay = 0;  // 0: no replay
  double night = 0;   // of a stored figure on one card
  double card = 0;    // of a benchmark on one card besides factors
  std::array<double, kFactors> factors{};
  bool has_new_cards = false;
};

Spreads spreads_of(NightFigure figure) {
  // Of eight H200s: docs/evidence/other-cards.md.
  constexpr std::array<double, kFactors> kThree{0.0029, 0.0014, 0.0011};
  switch (figure) {
    case NightFigure::kReplay:
      return {0.00034, 0.00047, 0.0011, kThree, false};
    case NightFigure::kKnownCards:
      return {0, 0.00047, 0.0011, kThree, false};
    case NightFigure::kNewCardsWithFactors:
      return {0, 0.00047, 0.00174, {0.0029, 0.0014, 0}, true};
    case NightFigure::kNewCards:
      return {0, 0.00047, 0.00276, {}, true};
  }
  return {};
}

class Year {
 public:
  Year(const NightScenario& scenario, unsigned seed)
      : scenario_(scenario), spreads_(spreads_of(scenario.figure)), random_(seed) {
    for (auto& loadings : loadings_) loadings = draws(1);
    for (int card = 0; card < kCards; ++card) cards_.push_back(new_card());
  }

  std::vector<Night> nights() {
    std::vector<Night> nights;
    for (int i = 0; i < scenario_.nights; ++i) nights.push_back(night(i));
    return nights;
  }

 private:
  std::vector<double> draws(double spread) {
    std::vector<double> values;
    for (int i = 0; i < scenario_.benchmarks; ++i) values.push_back(spread * draw());
    return values;
  }

  double draw() {
    constexpr double kVarianceOfT3 = 3;
    return scenario_.has_heavy_tails ? t3_(random_) / std::sqrt(kVarianceOfT3) : normal_(random_);
  }

  std::vector<double> new_card() {
    std::vector<double> card = draws(spreads_.card);
    for (std::size_t f = 0; f < kFactors; ++f) {
      const double score = spreads_.factors[f] * normal_(random_);
      for (std::size_t i = 0; i < card.size(); ++i) card[i] += score * loadings_[f][i];
    }
    return card;
  }

  double code(std::size_t benchmark, int night) const {
    if (night < scenario_.first_night || !std::ranges::count(scenario_.stepping, benchmark))
      return 0;
    return scenario_.step + scenario_.creep * (night - scenario_.first_night + 1);
  }

  Night night(int number) {
    const int card = number % kCards;
    Night night{.session = fmt::format("night-{:04}", number),
                .unix_s = kStart_s + number * kDay_s,
                .commit = fmt::format("c{:04}", number),
                .device = "NVIDIA H200",
                .card = fmt::format("GPU-{:04}", spreads_.has_new_cards ? number : card),
                .machine = "runner",
                .driver = "580.1",
                .replayed = spreads_.replay > 0 ? "reference" : ""};
    const std::vector<double> offsets =
        spreads_.has_new_cards ? new_card() : cards_[static_cast<std::size_t>(card)];
    constexpr double kSession = 0.0003;  // what a session does to all benchmarks
    const double session = kSession * normal_(random_);
    for (int i = 0; i < scenario_.benchmarks; ++i) {
      night.benchmarks.push_back(
          benchmark(i, number, session + offsets[static_cast<std::size_t>(i)]));
    }
    return night;
  }

  NightBenchmark benchmark(int i, int night, double card) {
    const bool is_stepped = scenario_.step != 0 && code(static_cast<std::size_t>(i), night) != 0;
    const double own = code(static_cast<std::size_t>(i), night);
    NightBenchmark result{.name = night_benchmark_name(i),
                          .operation = fmt::format("operation{}", i % 6),
                          .processes = kProcesses,
                          .identity = fmt::format("{}{}", i, is_stepped ? "b" : "a")};
    const double log_ns = std::log(2000 + 500.0 * (i % 97));
    result.kernels = {fmt::format("kernel{}|{}", i / 6, is_stepped),
                      fmt::format("gemm{}|0", i % 17)};
    result.log_equal_clock = log_ns + own + card + spreads_.night * draw();
    result.process_variance = kProcesses * std::pow(0.7 * spreads_.night, 2);
    result.ns = std::exp(log_ns + own);
    if (spreads_.replay > 0) {
      result.over_replay = {own + spreads_.replay * draw(), std::pow(0.7 * spreads_.replay, 2)};
    }
    return result;
  }

  const NightScenario& scenario_;
  Spreads spreads_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> t3_{3};
  std::array<std::vector<double>, kFactors> loadings_;
  std::vector<std::vector<double>> cards_;
};

}  // namespace

const char* night_figure_name(NightFigure figure) {
  switch (figure) {
    case NightFigure::kReplay:
      return "replay of a fixed reference (deviation 0.034 %)";
    case NightFigure::kKnownCards:
      return "stored, eight known cards (0.047 %)";
    case NightFigure::kNewCardsWithFactors:
      return "stored, new card each night, two factors taken out (0.18 %)";
    case NightFigure::kNewCards:
      return "stored, new card each night (0.28 %)";
  }
  return "";
}

std::string night_benchmark_name(int number) {
  return fmt::format("operation{}/kernel{}/bf16/batch:{:04}", number % 6, number / 6, number);
}

std::vector<Night> simulated_nights(const NightScenario& scenario, unsigned seed) {
  return Year(scenario, seed).nights();
}

NightOutcome judge_simulated(const NightScenario& scenario, unsigned seed) {
  const std::vector<Night> nights = simulated_nights(scenario, seed);
  const Judged judged = judge_nights(nights, nights.back().unix_s);
  NightOutcome outcome;
  for (const ChangePoint& change : judged.changes) {
    int named = 0;
    for (const std::size_t own : scenario.stepping) {
      named += static_cast<int>(
          std::ranges::count(change.benchmarks, night_benchmark_name(static_cast<int>(own))));
    }
    const int alarm = std::stoi(change.alarm_session.substr(change.alarm_session.find('-') + 1));
    if (named == 0 || alarm < scenario.first_night) {
      ++outcome.false_alarms;
    } else if (outcome.nights_to_detection == 0) {
      outcome.nights_to_detection = alarm - scenario.first_night + 1;
      outcome.named = named;
    }
  }
  return outcome;
}

std::vector<NightOutcome> judge_simulated(const NightScenario& scenario, int runs) {
  std::vector<NightOutcome> outcomes(static_cast<std::size_t>(runs));
  in_parallel(outcomes.size(), [&](std::size_t i) {
    outcomes[i] = judge_simulated(scenario, static_cast<unsigned>(i) + 1);
  });
  return outcomes;
}

}  // namespace fusegate::baselines::audit
