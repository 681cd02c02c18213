// For tests: runs made of numbers.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

// One process a time. cycles: clock_ghz cycles a nanosecond, none where it is zero.
inline BenchmarkSeries test_series(std::string name, const std::vector<double>& times_ns,
                                   double clock_ghz = 2) {
  BenchmarkSeries series;
  series.name = std::move(name);
  for (const double time_ns : times_ns) {
    const double cycles =
        clock_ghz > 0 ? time_ns * clock_ghz : std::numeric_limits<double>::quiet_NaN();
    series.processes.push_back({time_ns, cycles, 0.001, 60});
  }
  return series;
}

// Declared a control.
inline BenchmarkSeries as_control(BenchmarkSeries series) {
  series.is_control = true;
  return series;
}

// With the identity of a single launch of that machine code.
inline BenchmarkSeries doing(BenchmarkSeries series, std::string code) {
  series.identity = CallIdentity{.launches = {{.kernel = "void k<float>()",
                                               .code = std::move(code),
                                               .launch = "grid 4x1x1, block 256x1x1",
                                               .arguments = "77c1"}},
                                 .order = "5d0e"};
  return series;
}

// The times of a benchmark whose processes agree within 0.1 %.
inline const std::vector<double> kQuiet{1000, 1000.5, 999.5, 1000.2, 999.8};

inline std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

// kQuiet, slower by the share.
inline std::vector<double> slowed(double share) { return scaled(kQuiet, 1 + share); }

inline BenchmarkSeries failed_series(std::string name, std::string failure) {
  BenchmarkSeries series;
  series.name = std::move(name);
  series.failure = std::move(failure);
  return series;
}

inline Run test_run(std::vector<BenchmarkSeries> benchmarks) {
  Run run;
  run.benchmarks = std::move(benchmarks);
  return run;
}

// Of one session as all such runs are: nothing that a machine does between sessions lies between
// them.
inline Run side_by_side(std::vector<BenchmarkSeries> benchmarks) {
  Run run = test_run(std::move(benchmarks));
  run.session = "one";
  return run;
}

// With 30 benchmarks of identical code besides, which take as long in every such run: the machine
// stood still, so that what the others show is their own.
inline Run on_still_machine(Run run) {
  for (int i = 0; i < 30; ++i) {
    run.benchmarks.push_back(doing(test_series("still " + std::to_string(i), kQuiet), "5c"));
  }
  return run;
}

}  // namespace fusegate::baselines
