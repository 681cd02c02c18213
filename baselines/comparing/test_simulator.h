// For tests: suites of simulated benchmarks whose truth is known, and what verdicts make of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "baselines/comparing/judge.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {

// Where FUSEGATE_FULL_SIMULATIONS is set (nightly), as many suites as prove a promise. Else a quarter,
// which fails only where the count contradicts the promise.
inline bool are_simulations_full() { return std::getenv("FUSEGATE_FULL_SIMULATIONS") != nullptr; }

// What a machine does to a candidate's rows, as logarithms, code or none: the standard deviations
// of the shift of all rows, of how it grows with the duration and of what rows bound by memory have
// on top; each row's own scatter lies between the last two.
struct MachineMoves {
  double common = 0;
  double by_duration = 0;
  double by_bound = 0;
  double least_scatter = 0;
  double most_scatter = 0;
};

struct Simulation {
  int benchmarks = 60;
  int processes = 5;
  int baseline_processes = 0;  // 0: as many
  bool is_stored = false;      // the baseline is of another session
  double slowed_share = 0;
  double slowdown = 0;
  double shift = 0;  // of every candidate time, within what does not matter
  bool has_cycles = true;
  // Of standard deviations between processes, the largest over the smallest: from 0.02 % to 1.7 %,
  // as on an H200.
  double noise_range = 85;
  bool has_heavy_tails = false;  // Student's t with three degrees of freedom
  int two_modes = 0;             // so many rows are 3 % slower in one process of five
  double outlier = 0;            // by so much the candidate's second process is slower in all rows
  double drift = 0;              // of the candidate, in all rows
  double arithmetic_drift = 0;   // likewise, but for rows bound by memory
  MachineMoves moves{};
  int identical = 0;       // rows of identical code, which neither code nor slowdown touches
  int baseline_cards = 0;  // none of them the candidate's, each with its share; 0: the same card
  double card_spread = 0;  // standard deviation of a card, by thirds of duration
  // Of a card in one row by itself, the largest: rows have from a tenth of it.
  double card_scatter = 0;
  Rule rule{};
};

struct Counts {
  int suites = 0;
  int suites_with_false_calls = 0;        // at first sight
  int suites_that_moved = 0;              // with a row that says so
  int suites_with_false_regressions = 0;  // with too few processes there is none
  int regressions = 0;                    // likewise, true ones too
  double false_share_sum = 0;  // of the calls, per suite: its mean is the false discovery rate
  int slowed = 0;
  int found = 0;
  int covered = 0;  // intervals that hold the true effect
  int judged = 0;
};

inline double found_share(const Counts& counts) {
  return static_cast<double>(counts.found) / counts.slowed;
}
inline double covered_share(const Counts& counts) {
  return static_cast<double>(counts.covered) / counts.judged;
}

// One benchmark whose truth is known.
struct SimulatedBenchmark {
  std::string name;
  double noise = 0;         // standard deviation between processes, of logarithms
  double card_scatter = 0;  // and between cards, beside what cards do to all rows of its length
  double ratio = 1;         // true time of the candidate over the baseline's, by its code
  bool slowed = false;
  double duration = 0;  // 0: the shortest, 1: the longest
  bool is_memory_bound = false;
  bool has_two_modes = false;
  bool is_identical = false;
  double moved = 0;  // by the machine, of logarithms
};

class Simulator {
 public:
  Simulator(const Simulation& simulation, unsigned seed) : simulation_(simulation), random_(seed) {}

  const Simulation& simulation() const { return simulation_; }

  std::vector<SimulatedBenchmark> make_suite() {
    std::vector<SimulatedBenchmark> suite;
    const MachineMoves& moves = simulation_.moves;
    const bool is_moved = moves.most_scatter > 0;
    const double common = is_moved ? moves.common * normal_(random_) : 0;
    const double by_duration = is_moved ? moves.by_duration * normal_(random_) : 0;
    const double by_bound = is_moved ? moves.by_bound * normal_(random_) : 0;
    const double short_scatter = is_moved ? scatter() : 0;
    const double long_scatter = is_moved ? scatter() : 0;
    const CardShifts shifts = card_shifts();  // of the candidate
    for (int i = 0; i < simulation_.benchmarks; ++i) {
      SimulatedBenchmark row{.name = fmt::format("{:03}", i)};
      row.noise = 2e-4 * std::pow(simulation_.noise_range, uniform_(random_));
      if (simulation_.card_scatter > 0) {
        row.card_scatter = simulation_.card_scatter * std::pow(0.1, uniform_(random_));
      }
      row.is_identical = i * 7 % simulation_.benchmarks < simulation_.identical;
      row.slowed = !row.is_identical && is_slowed(i);
      row.ratio = (1 + simulation_.shift) * (row.slowed ? 1 + simulation_.slowdown : 1);
      // Spread evenly, and in no order.
      row.duration = (i * 37 % simulation_.benchmarks + 0.5) / simulation_.benchmarks;
      row.is_memory_bound = i % 2 == 0;
      row.has_two_modes = i * 11 % simulation_.benchmarks < simulation_.two_modes;
      row.moved = std::log1p(simulation_.drift) +
                  (row.is_memory_bound ? 0 : std::log1p(simulation_.arithmetic_drift));
      row.moved += card_shift(row, shifts);
      if (is_moved) {
        row.moved +=
            common + by_duration * (row.duration - 0.5) + by_bound * row.is_memory_bound +
            short_scatter * std::pow(long_scatter / short_scatter, row.duration) * normal_(random_);
      }
      suite.push_back(std::move(row));
    }
    return suite;
  }

  // One process. Time and cycles share most of their noise, as both come of the same samples.
  ProcessSummary measure(const SimulatedBenchmark& benchmark, double ratio) {
    const double shared = draw();
    const double mode = benchmark.has_two_modes && uniform_(random_) < 0.2 ? 1.03 : 1;
    const auto value = [&] {
      return mode * ratio * std::exp(benchmark.noise * (0.9 * shared + std::sqrt(0.19) * draw()));
    };
    const double time_ns = 2e3 * std::pow(1e3, benchmark.duration);
    ProcessSummary summary;
    summary.time_ns = time_ns * value();
    summary.cycles = 2 * time_ns * value();
    if (!simulation_.has_cycles) summary.cycles = std::numeric_limits<double>::quiet_NaN();
    summary.spread = 0.001;
    summary.samples = 60;
    return summary;
  }

  // What code and machine make of the candidate.
  static double candidate_ratio(const SimulatedBenchmark& benchmark) {
    return benchmark.ratio * std::exp(benchmark.moved);
  }

  Run baseline(const std::vector<SimulatedBenchmark>& suite) {
    const int cards = std::max(1, simulation_.baseline_cards);
    const int processes =
        simulation_.baseline_processes > 0 ? simulation_.baseline_processes : simulation_.processes;
    Run run;
    run.session = simulation_.is_stored ? "" : "one";
    for (const SimulatedBenchmark& benchmark : suite) {
      run.benchmarks.push_back(series(benchmark, "0f"));
    }
    for (int card = 0; card < cards; ++card) {
      const auto shifts = card_shifts();
      run.cards.push_back(fmt::format("GPU-{}", card));
      for (std::size_t i = 0; i < suite.size(); ++i) {
        const double ratio = std::exp(card_shift(suite[i], shifts));
        for (int k = 0; k < processes; ++k) {
          // Of five cards two processes each.
          if (cards > 1 && k >= 2) break;
          ProcessSummary summary = measure(suite[i], ratio);
          summary.card = card;
          run.benchmarks[i].processes.push_back(summary);
        }
      }
    }
    number_processes(run);
    return run;
  }

  Run candidate(const std::vector<SimulatedBenchmark>& suite) {
    Run run;
    run.session = simulation_.is_stored ? "" : "one";
    run.cards = {simulation_.baseline_cards > 0 ? "GPU-other" : "GPU-0"};
    for (const SimulatedBenchmark& benchmark : suite) {
      run.benchmarks.push_back(series(benchmark, benchmark.is_identical ? "0f" : "1e"));
      for (int k = 0; k < simulation_.processes; ++k) {
        const double outlier = k == 1 ? 1 + simulation_.outlier : 1;
        run.benchmarks.back().processes.push_back(
            measure(benchmark, outlier * candidate_ratio(benchmark)));
      }
    }
    number_processes(run);
    return run;
  }

  void add_suite(Counts& counts) {
    const auto suite = make_suite();
    const Run before = baseline(suite);
    count(judge(before, candidate(suite), simulation_.rule), suite, counts);
  }

  static void count(const std::vector<Verdict>& verdicts,
                    const std::vector<SimulatedBenchmark>& suite, Counts& counts) {
    int calls = 0;
    int false_calls = 0;
    int false_regressions = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const bool called = first_sight(verdicts[i]) == VerdictKind::kRegression;
      calls += called;
      false_calls += called && !suite[i].slowed;
      const bool is_regression = verdicts[i].kind == VerdictKind::kRegression;
      counts.regressions += is_regression;
      false_regressions += is_regression && !suite[i].slowed;
      counts.slowed += suite[i].slowed;
      counts.found += called && suite[i].slowed;
      const double truth = suite[i].ratio - 1;
      counts.covered += verdicts[i].estimates.interval.low <= truth &&
                        truth <= verdicts[i].estimates.interval.high;
      ++counts.judged;
    }
    ++counts.suites;
    counts.suites_with_false_calls += false_calls > 0;
    counts.suites_that_moved += std::ranges::any_of(verdicts, [](const Verdict& verdict) {
      return verdict.reason.obstacle == Obstacle::kSuiteMoved;
    });
    counts.suites_with_false_regressions += false_regressions > 0;
    counts.false_share_sum += calls > 0 ? static_cast<double>(false_calls) / calls : 0;
  }

 private:
  // By thirds of duration.
  using CardShifts = std::array<double, 3>;

  double draw() {
    if (!simulation_.has_heavy_tails) return normal_(random_);
    return student_(random_) / std::sqrt(3);  // of unit variance
  }

  double scatter() {
    const MachineMoves& moves = simulation_.moves;
    return moves.least_scatter *
           std::pow(moves.most_scatter / moves.least_scatter, uniform_(random_));
  }

  bool is_slowed(int i) const { return i < simulation_.slowed_share * simulation_.benchmarks; }

  CardShifts card_shifts() {
    CardShifts shifts{};
    if (simulation_.card_spread == 0) return shifts;
    for (double& shift : shifts) shift = simulation_.card_spread * normal_(random_);
    return shifts;
  }

  // What one card does to the row.
  double card_shift(const SimulatedBenchmark& benchmark, const CardShifts& shifts) {
    const auto third = std::min<std::size_t>(2, static_cast<std::size_t>(3 * benchmark.duration));
    const double own = benchmark.card_scatter > 0 ? benchmark.card_scatter * draw() : 0;
    return shifts[third] + own;
  }

  // Without times yet.
  BenchmarkSeries series(const SimulatedBenchmark& benchmark, const char* code) const {
    BenchmarkSeries result;
    result.name = benchmark.name;
    result.counters = {{"flops", benchmark.is_memory_bound ? 1e6 : 5e8}, {"min_bytes", 1e6}};
    return simulation_.identical > 0 ? doing(std::move(result), code) : result;
  }

  Simulation simulation_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{3};
  std::uniform_real_distribution<double> uniform_;
};

inline Counts simulate(const Simulation& simulation, int suites) {
  Counts counts;
  Simulator simulator(simulation, 20261121);
  for (int i = 0; i < suites; ++i) simulator.add_suite(counts);
  return counts;
}

// Of a suite that is extended as `fusegate run` and `duet` extend it: what is undecided or looks
// slower gets more processes, up to three times as many.
inline std::vector<Verdict> judge_extended(Simulator& simulator,
                                           const std::vector<SimulatedBenchmark>& suite) {
  const Simulation& simulation = simulator.simulation();
  Run baseline = simulator.baseline(suite);
  Run candidate = simulator.candidate(suite);
  const auto add = [&](std::size_t i, double ratio, Run& run) {
    ProcessSummary summary = simulator.measure(suite[i], ratio);
    summary.extension = true;
    summary.process = static_cast<int>(run.process_names.size());
    run.benchmarks[i].processes.push_back(summary);
  };
  auto verdicts = judge(baseline, candidate, simulation.rule);
  for (int round = simulation.processes; round < 3 * simulation.processes; ++round) {
    bool any = false;
    for (std::size_t i = 0; i < suite.size(); ++i) {
      const VerdictKind kind = verdicts[i].kind;
      if (kind != VerdictKind::kRegression && kind != VerdictKind::kInconclusive) continue;
      any = true;
      // Stored figures are not added to.
      if (!simulation.is_stored) add(i, 1, baseline);
      add(i, Simulator::candidate_ratio(suite[i]), candidate);
    }
    if (!any) break;
    for (Run* run : {&baseline, &candidate}) run->process_names.push_back("fresh");
    verdicts = judge(baseline, candidate, simulation.rule);
  }
  return verdicts;
}

inline Counts simulate_sequential(const Simulation& simulation, int suites) {
  Counts counts;
  Simulator simulator(simulation, 3);
  for (int i = 0; i < suites; ++i) {
    const auto suite = simulator.make_suite();
    Simulator::count(judge_extended(simulator, suite), suite, counts);
  }
  return counts;
}

}  // namespace fusegate::baselines
