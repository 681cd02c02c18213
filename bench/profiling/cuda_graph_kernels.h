// What the kernels of a CUDA graph use of the GPU, whichever library they are from.
#pragma once

#include <vector>

#include "kernels/contract/kernel.h"
#include "kernels/cuda/device/cuda_graph.h"

namespace fusegate::bench {

// Every kernel of the graph, in the order of capture, but for those that the driver does not
// describe. threads_per_sm: what an SM holds at most.
std::vector<kernels::KernelResources> graph_kernels(const kernels::Graph& graph,
                                                    int threads_per_sm);

}  // namespace fusegate::bench
