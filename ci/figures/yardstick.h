// What a benchmark would take at the rates of the library's GEMM and the driver's copy in the same
// run, and its time over that. A yardstick and no limit: it may be beaten. What keeps a benchmark
// from less is told by bound.h.
//
//   yardstick = max(FLOPs / GEMM rate, least bytes / copy rate)
//
// Both rates come from the same run. A data sheet's are reached by no program at the clock and the
// power at hand; what the library's GEMM and the driver's copy reach in the same minutes is what a
// kernel can be held against (the roofline of Williams, Waterman and Patterson 2009, its two roofs
// measured).
//
//   GEMM rate  the best TFLOP/s of the run's `linear` and `control_gemm` benchmarks of that dtype,
//              among those that take 20 us and more: shorter ones do not fill the device. On an
//              H200 the same cuBLAS reached 166 TFLOP/s in 3.6 us and 809 in 913 us. bf16 and fp16
//              lend theirs to each other where one was not measured: tensor cores multiply both
//              at one rate.
//   copy rate  of the largest `control_copy`, read and written bytes together: a smaller one is
//              served by the L2. On an H200 19 MB were copied at 5,484 GB/s and 151 MB at 4,088.
//   launch     the time a kernel of the run's shortest benchmark, such as an element-wise kernel
//              over one row: what a kernel that does next to nothing takes.
//
// A kernel that beats the library's GEMM or the driver's copy, or whose operands stay in the L2
// from one launch to the next, takes less than its yardstick: down to 0.44 of it on an H100. It is
// the yardstick of an implementation: one that writes intermediate results has more bytes to move
// than one that fuses.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/figures/benchmark_figures.h"

namespace fusegate::ci {

struct MeasuredRate {
  double value = 0;
  std::string benchmark;  // the one that showed it
};

struct MeasuredRates {
  std::map<std::string, MeasuredRate> gemm_tflops;  // by dtype
  std::optional<MeasuredRate> copy_gbps;
  std::optional<MeasuredRate> launch_ns;
};

struct Yardstick {
  // NaN where a rate or the benchmark's own work is unknown.
  double ns = std::numeric_limits<double>::quiet_NaN();
  double time_over = std::numeric_limits<double>::quiet_NaN();  // the benchmark's time over it
  // The benchmark's own rates over the measured ones; each NaN where either is unknown.
  // Above 1 where the L2 serves what the copy had to fetch.
  double copy_share = std::numeric_limits<double>::quiet_NaN();
  double gemm_share = std::numeric_limits<double>::quiet_NaN();
};

MeasuredRates measured_rates(const std::vector<BenchmarkFigures>& run);

// Unknown for benchmarks with names of other programs.
Yardstick yardstick_of(const BenchmarkFigures& figures, const MeasuredRates& rates);

// The rates and where they come from, or that one was not measured; the GEMM rate for each dtype.
std::vector<std::string> rate_sentences(const MeasuredRates& rates,
                                        const std::vector<std::string>& dtypes);

}  // namespace fusegate::ci
