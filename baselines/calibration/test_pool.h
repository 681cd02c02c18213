// For tests: runs of simulated processes.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

struct SimulatedRun {
  std::string device_uuid = "GPU-1";
  int processes = 10;
  double spread = 0.001;  // standard deviation between processes, of logarithms
  double shift = 0;       // of all logarithms of this run
  std::vector<double> times_ns{50'000, 10'000, 1'000};
};

// Time and cycles share their noise.
inline Run simulate(const SimulatedRun& simulated, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Run run;
  run.source = simulated.device_uuid;
  run.environment = {{"device", "NVIDIA H200"}};
  run.provenance.suite = "pr";
  run.provenance.device_uuid = simulated.device_uuid;
  for (std::size_t i = 0; i < simulated.times_ns.size(); ++i) {
    BenchmarkSeries series;
    series.name = fmt::format("family{}/time:{}", i, i);
    for (int k = 0; k < simulated.processes; ++k) {
      const double ratio = std::exp(simulated.shift + simulated.spread * normal(random));
      series.processes.push_back(
          {simulated.times_ns[i] * ratio, 2 * simulated.times_ns[i] * ratio, 0.001, 60});
    }
    run.benchmarks.push_back(std::move(series));
  }
  return run;
}

}  // namespace fusegate::baselines
