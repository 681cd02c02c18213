// What one benchmark of a run comes to, as every table shows it.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::ci {

struct BenchmarkFigures {
  std::string name;
  double time_ns = 0;   // geometric mean over processes; NaN where it never succeeded
  double spread = 0;    // standard deviation between processes, relative; NaN below two
  double launches = 0;  // kernels a call; NaN, like all that follow, where it was not recorded
  double tflops = 0;    // 1e12 operations a second, by the operation's own count
  double gbps = 0;      // 1e9 bytes a second, by the least that must be moved
  double flops = 0;     // of one call
  double min_bytes = 0;
  double energy_j = 0;       // of one call, at sustained load
  double host_ns = 0;        // what one call costs the host, its kernels launched on a stream
  double host_graph_ns = 0;  // the same launched as one graph
  double memory_bytes = std::numeric_limits<double>::quiet_NaN();  // its tensors and scratch
  double kept_bytes = std::numeric_limits<double>::quiet_NaN();    // from forward to backward
  std::string failure;       // empty where it never failed
  bool is_control = false;   // see baselines/record/process.h
};

BenchmarkFigures benchmark_figures(const baselines::BenchmarkSeries& series);
// Without those that were not measured.
std::vector<BenchmarkFigures> benchmark_figures(const baselines::Run& run);

}  // namespace fusegate::ci
