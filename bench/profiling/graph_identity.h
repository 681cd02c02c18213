// The identity of a captured call: what its kernels are, how they are launched, and with what.
#pragma once

#include <span>

#include "baselines/launches/call_identity.h"
#include "bench/profiling/kernel_codes.h"
#include "bench/profiling/launch_arguments.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {

// memory: all that the call may work in, in an order that every process has. Unknown, with the
// reason, where a kernel's code was not seen, an argument cannot be read or points elsewhere, or
// the graph holds what is neither a kernel nor a memory operation.
baselines::CallIdentity graph_identity(const kernels::Graph& graph,
                                       std::span<const MemorySpan> memory,
                                       const KernelCodes& codes);

}  // namespace fusegate::bench
