// The roofline time of a benchmark, and its gap: its time over that. The roofline time may be
// beaten. bottleneck.h says what keeps a benchmark from reaching it.
//
//   roofline time = max(FLOPs / measured GEMM rate, least bytes / measured copy bandwidth)
//
// Both rates come from the same run, since no program reaches a data sheet's at the clock and the
// power at hand (the roofline of Williams, Waterman and Patterson 2009, its two roofs measured).
// Controls measure them, which are a library's or the driver's code:
//
//   GEMM rate  the best TFLOP/s of a dtype among controls of 16 FLOP and more a byte, and among
//              operations that compute as much as such a control at the same problem, such as the
//              same product with a bias. They take 20 us and more: shorter ones do not fill the
//              device. On an H200 the same cuBLAS reached 166 TFLOP/s in 3.6 us and 809 in 913 us.
//              bf16 and fp16 lend theirs to each other where one was not measured: tensor cores
//              multiply both at one rate.
//   copy rate  of the control without FLOPs that moves most bytes, read and written together: the
//              L2 serves a smaller one. On an H200 19 MB were copied at 5,484 GB/s and 151 MB at
//              4,088.
//   launch     the time a kernel of the run's shortest benchmark, such as an element-wise kernel
//              over one row: what a kernel that does next to nothing takes.
//
// A kernel that beats the library's GEMM or the driver's copy, or whose operands stay in the L2
// from one launch to the next, takes less than its roofline time: down to 0.44 of it on an H100.
// The time is an implementation's: one that writes intermediate results has more bytes to move than
// one that fuses.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ci/sweep/benchmark_figures.h"

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

struct RooflineTime {
  // NaN where a rate or the benchmark's own work is unknown.
  double ns = std::numeric_limits<double>::quiet_NaN();
  double gap = std::numeric_limits<double>::quiet_NaN();  // the benchmark's time over it
  // The benchmark's own rates over the measured ones; each NaN where either is unknown.
  // Above 1 where the L2 serves what the copy had to fetch.
  double copy_share = std::numeric_limits<double>::quiet_NaN();
  double gemm_share = std::numeric_limits<double>::quiet_NaN();

  double share() const { return 1 / gap; }  // of the roofline: 1 where the time is its time
};

MeasuredRates measured_rates(const std::vector<BenchmarkFigures>& run);

// Unknown for benchmarks with names of other programs.
RooflineTime roofline_time_of(const BenchmarkFigures& figures, const MeasuredRates& rates);

// By the benchmark's name; without those of which it is unknown.
using RooflineTimes = std::map<std::string, RooflineTime>;

// What a run lacks, identical code that it did not measure above all, is taken from the first of
// `others` of the same device that has it: a benchmark's figures, and rates.
RooflineTimes roofline_times(const baselines::Run& run,
                             const std::vector<const baselines::Run*>& others);

// The rates and where they come from, or that one was not measured; the GEMM rate for each dtype.
std::vector<std::string> rate_sentences(const MeasuredRates& rates,
                                        const std::vector<std::string>& dtypes);

}  // namespace fusegate::ci
