// For tests: suites of simulated benchmarks whose truth is known, and what verdicts make of them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "baselines/comparing/judge.h"
#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

struct Simulation {
  int benchmarks = 60;
  int invocations = 5;
  double slowed_share = 0;
  double slowdown = 0;
  double shift = 0;  // of every candidate time, within what does not matter
  bool has_cycles = true;
};

struct Counts {
  int suites = 0;
  int suites_with_false_calls = 0;
  double false_share_sum = 0;  // of the calls, per suite: its mean is the false discovery rate
  int slowed = 0;
  int found = 0;
  int covered = 0;  // intervals that hold the true effect
  int judged = 0;
};

// One benchmark whose truth is known.
struct SimulatedBenchmark {
  std::string name;
  double noise = 0;  // standard deviation between processes, of logarithms
  double ratio = 1;  // true time of the candidate over the baseline's
  bool slowed = false;
};

class Simulator {
 public:
  Simulator(const Simulation& simulation, unsigned seed) : simulation_(simulation), random_(seed) {}

  std::vector<SimulatedBenchmark> make_suite() {
    std::vector<SimulatedBenchmark> suite;
    for (int i = 0; i < simulation_.benchmarks; ++i) {
      const bool slowed = i < simulation_.slowed_share * simulation_.benchmarks;
      // Standard deviations between processes from 0.02 % to 1.7 %, as on an H200.
      const double noise = 2e-4 * std::pow(85, uniform_(random_));
      const double ratio = (1 + simulation_.shift) * (slowed ? 1 + simulation_.slowdown : 1);
      suite.push_back({fmt::format("{:03}", i), noise, ratio, slowed});
    }
    return suite;
  }

  // Time and cycles share most of their noise, as both come of the same samples.
  InvocationSummary measure(double ratio, double noise) {
    const double shared = normal_(random_);
    const auto value = [&] {
      return ratio * std::exp(noise * (0.9 * shared + std::sqrt(0.19) * normal_(random_)));
    };
    InvocationSummary summary;
    summary.time_ns = 1e4 * value();
    summary.cycles = 2e4 * value();
    if (!simulation_.has_cycles) summary.cycles = std::numeric_limits<double>::quiet_NaN();
    summary.spread = 0.001;
    summary.samples = 60;
    return summary;
  }

  BenchmarkSeries series(const SimulatedBenchmark& benchmark, double ratio) {
    BenchmarkSeries series;
    series.name = benchmark.name;
    for (int i = 0; i < simulation_.invocations; ++i) {
      series.invocations.push_back(measure(ratio, benchmark.noise));
    }
    return series;
  }

  void add_suite(Counts& counts) {
    const auto suite = make_suite();
    Run baseline;
    Run candidate;
    for (const SimulatedBenchmark& benchmark : suite) {
      baseline.benchmarks.push_back(series(benchmark, 1));
      candidate.benchmarks.push_back(series(benchmark, benchmark.ratio));
    }
    count(judge(baseline, candidate, {}), suite, counts);
  }

  static void count(const std::vector<Verdict>& verdicts,
                    const std::vector<SimulatedBenchmark>& suite, Counts& counts) {
    int calls = 0;
    int false_calls = 0;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const bool called = verdicts[i].kind == VerdictKind::kRegression;
      calls += called;
      false_calls += called && !suite[i].slowed;
      counts.slowed += suite[i].slowed;
      counts.found += called && suite[i].slowed;
      const double truth = suite[i].ratio - 1;
      counts.covered += verdicts[i].interval.low <= truth && truth <= verdicts[i].interval.high;
      ++counts.judged;
    }
    ++counts.suites;
    counts.suites_with_false_calls += false_calls > 0;
    counts.false_share_sum += calls > 0 ? static_cast<double>(false_calls) / calls : 0;
  }

 private:
  Simulation simulation_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

inline Counts simulate(const Simulation& simulation, int suites) {
  Counts counts;
  Simulator simulator(simulation, 20261121);
  for (int i = 0; i < suites; ++i) simulator.add_suite(counts);
  return counts;
}

}  // namespace fusegate::baselines
