// What bounds a benchmark: launches, memory or arithmetic, by rates that were measured in the same
// run (roofline_time.h) and by what a call costs the host.
//
// Two shares hold a benchmark against them, and may be above 1:
//
//   copy share  its least bytes over its time, over the copy rate
//   GEMM share  its FLOPs over its time, over the GEMM rate of its dtype
//
// It is classed twice, because how it is launched makes a difference.
//
// As one graph, which is how its time is measured:
//
//   launch-bound   its kernels, each at the run's launch rate, explain more than half of its time,
//                  and both shares are below one half; or launching the graph costs the host at
//                  least the time (`host_graph_ns`). Fewer launches would help most.
//   memory-bound   else, where the copy share is the larger one
//   compute-bound  else
//
// On a stream, a kernel at a time, as an eager framework launches:
//
//   launch-bound   where its launches cost the host at least the time that the GPU takes
//                  (`host_ns`, which is the host's cost of a launch times the launches): the GPU
//                  waits for the host. Also where it is launch-bound as one graph: on a stream,
//                  kernels follow each other no closer.
//   as one graph   else
//
// So a benchmark that is launch-bound on a stream alone gains by being put in a graph, and one that
// is launch-bound as a graph too gains by fusion alone.
//
// Missing values:
//   - Names of other programs, benchmarks that failed: no class, no shares.
//   - No copy or no GEMM of the dtype in the run, no FLOPs or bytes recorded, or no work at all:
//     neither memory-bound nor compute-bound, and of the launch rules only the host's.
//   - No host cost recorded: no class on a stream, unless launch-bound as a graph.
//   - No kernel launches recorded: the rule of the launch rate holds for none.
// A benchmark far below both rates is bound by neither; the shares say how far.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ci/sweep/benchmark_figures.h"
#include "ci/sweep/roofline_time.h"

namespace fusegate::ci {

enum class Bottleneck { kLaunch, kMemory, kCompute };
std::string_view bottleneck_name(
    Bottleneck bottleneck);  // "launch-bound", "memory-bound", "compute-bound"

struct Bottlenecks {
  std::optional<Bottleneck> as_graph{};
  std::optional<Bottleneck> on_stream{};
};

// roofline_time: of the same benchmark, by the same rates.
Bottlenecks bottlenecks_of(const BenchmarkFigures& figures, const RooflineTime& roofline_time,
                           const MeasuredRates& rates);

// "memory-bound"; "memory-bound, launch-bound on a stream" where the two differ; "launch-bound on a
// stream" where no more is known; "-" where nothing is.
std::string bottlenecks_text(const Bottlenecks& bottlenecks);

}  // namespace fusegate::ci
