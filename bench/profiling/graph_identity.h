// The identity of a captured call: the code of its kernels, their launches and arguments.
#pragma once

#include <optional>

#include "baselines/launches/call_identity.h"
#include "bench/profiling/kernel_codes.h"
#include "bench/profiling/launch_arguments.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {

// Unknown, with the reason, where a kernel's code was not seen, an argument cannot be read or
// points elsewhere, or a node is neither a kernel nor a memory operation. What lies in memory of
// the program's own is not compared. again: another capture of the call, or the same
// (ArgumentBytes).
baselines::CallIdentity graph_identity(const kernels::Graph& graph, const kernels::Graph& again,
                                       const CallMemory& memory, const KernelCodes& codes);

// Nothing where no argument is stale, or the driver does not report arguments.
std::optional<StaleArgument> find_stale_argument(const kernels::Graph& graph,
                                                 const CallMemory& memory);

}  // namespace fusegate::bench
