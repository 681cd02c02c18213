// For tests: figures of a benchmark, and rates of round numbers.
#pragma once

#include <limits>
#include <string>

#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr const char* kTestProblem = "/batch:64/seq:128/dim:768/hidden:3072";

// kernel: operation, implementation and dtype. Rates follow from work and time.
inline BenchmarkFigures test_figures(const std::string& kernel, double time_ns, double flops,
                                     double min_bytes, double launches = 1) {
  BenchmarkFigures figures;
  figures.name = kernel + kTestProblem;
  figures.time_ns = time_ns;
  figures.flops = flops;
  figures.min_bytes = min_bytes;
  figures.tflops = flops / time_ns / 1e3;
  figures.gbps = min_bytes / time_ns;
  figures.launches = launches;
  figures.host_ns = figures.host_graph_ns = kNan;
  return figures;
}

// 500 TFLOP/s in bf16, 4,000 GB/s, and 2 us a launch.
inline MeasuredRates round_rates() {
  return {{{"bf16", {500, "linear"}}}, MeasuredRate{4000, "copy"}, MeasuredRate{2000, "launch"}};
}

}  // namespace fusegate::ci
