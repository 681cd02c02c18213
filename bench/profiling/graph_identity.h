// The identity of a captured call: the code of its kernels, their launches and arguments.
#pragma once

#include <span>

#include "baselines/launches/call_identity.h"
#include "bench/profiling/kernel_codes.h"
#include "bench/profiling/launch_arguments.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {

// memory: all memory of the call, in the same order in every process. Unknown, with the reason,
// where a kernel's code was not seen, an argument cannot be read or points elsewhere, or a node is
// neither a kernel nor a memory operation.
baselines::CallIdentity graph_identity(const kernels::Graph& graph,
                                       std::span<const MemorySpan> memory,
                                       const KernelCodes& codes);

}  // namespace fusegate::bench
