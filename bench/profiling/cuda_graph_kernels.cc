#include "bench/profiling/cuda_graph_kernels.h"

#include <optional>
#include <string>

#include "bench/profiling/graph_driver.h"
#include "kernels/contract/readable_name.h"

namespace fusegate::bench {
namespace {

std::optional<kernels::KernelResources> resources(const CUDA_KERNEL_NODE_PARAMS& node,
                                                  int threads_per_sm) {
  const CUfunction function = driver().function_of(node);
  if (function == nullptr) return std::nullopt;
  kernels::KernelResources kernel;
  kernel.blocks = static_cast<std::int64_t>(node.gridDimX) * node.gridDimY * node.gridDimZ;
  kernel.threads_per_block = static_cast<int>(node.blockDimX * node.blockDimY * node.blockDimZ);
  kernel.dynamic_shared_bytes = static_cast<int>(node.sharedMemBytes);
  const char* name = nullptr;
  const bool is_known =
      driver().name(&name, function) == CUDA_SUCCESS &&
      driver().attribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS &&
      driver().attribute(&kernel.static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                         function) == CUDA_SUCCESS &&
      driver().blocks_per_sm(&kernel.blocks_per_sm, function, kernel.threads_per_block,
                             node.sharedMemBytes) == CUDA_SUCCESS;
  if (!is_known) return std::nullopt;
  kernel.name = kernels::readable_name(name);
  kernel.occupancy = static_cast<double>(kernel.blocks_per_sm) * kernel.threads_per_block /
                     static_cast<double>(threads_per_sm);
  return kernel;
}

}  // namespace

std::vector<kernels::KernelResources> graph_kernels(const kernels::Graph& graph,
                                                    int threads_per_sm) {
  std::vector<kernels::KernelResources> kernels;
  if (!driver().knows_kernels()) return kernels;
  for (const cudaGraphNode_t node : graph.nodes()) {
    const cudaGraphNodeType type = kernels::graph_node_type(node);
    CUDA_KERNEL_NODE_PARAMS params{};
    if (type != cudaGraphNodeTypeKernel) continue;
    if (driver().node_params(node, &params) != CUDA_SUCCESS) continue;
    if (auto kernel = resources(params, threads_per_sm)) kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

}  // namespace fusegate::bench
