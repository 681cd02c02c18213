// For tests: a small trace as fusegate_bench would record it.
#pragma once

#include "baselines/traces/trace.h"

namespace fusegate::baselines {

// The MLP's first stages on one host thread and one stream, all in ns: a range of the benchmark
// around two stages, each with one call and one kernel; the second kernel begins before the first
// has ended; a memset; a query that launches nothing; two values of the clock.
inline Trace example_trace() {
  using enum TraceCategory;
  Trace trace;
  const std::size_t host = trace.add_track({10, 11, "fusegate_bench", "main"});
  const std::size_t stream = trace.add_track({0, 7, "GPU 0", "stream 7"});
  const LaunchShape shape{{64, 24, 1}, {384, 1, 1}, 168, 229376};
  trace.events = {
      {"geglu \"mlp\"", kRange, host, 1'000, 20'001},
      {"gate_proj", kRange, host, 1'000, 9'000},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", kRuntimeCall, host, 1'500, 500, 1},
      {"cudaLaunchKernelExC", kRuntimeCall, host, 3'000, 4'000, 2},
      {"up_proj", kRange, host, 10'000, 8'000},
      {"cudaMemsetAsync", kRuntimeCall, host, 10'500, 700, 3},
      {"cudaLaunchKernelExC", kRuntimeCall, host, 12'000, 3'000, 4},
      {"gemm_sm90", kKernel, stream, 8'000, 30'000, 2, 0, {}, shape},
      {"Memset (Device)", kMemset, stream, 38'000, 1'000, 3, 0, 4096},
      {"gemm_sm90", kKernel, stream, 38'500, 30'123, 4, 0, {}, shape},
  };
  trace.counters = {{"SM clock (MHz)", 0, 1'000, 1980}, {"SM clock (MHz)", 0, 40'000, 1755.5}};
  return trace;
}

}  // namespace fusegate::baselines
