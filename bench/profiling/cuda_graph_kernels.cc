#include "bench/profiling/cuda_graph_kernels.h"

#include <cuda.h>

#include <optional>
#include <string>

#include "kernels/contract/readable_name.h"
#include "kernels/cuda/device/driver_function.h"

namespace fusegate::bench {
namespace {

struct Driver {
  decltype(cuGraphKernelNodeGetParams)* node_params =
      kernels::driver_function<decltype(cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams",
                                                                     12000);
  decltype(cuKernelGetFunction)* function_of =
      kernels::driver_function<decltype(cuKernelGetFunction)>("cuKernelGetFunction", 12000);
  decltype(cuFuncGetAttribute)* attribute =
      kernels::driver_function<decltype(cuFuncGetAttribute)>("cuFuncGetAttribute", 12000);
  decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)* blocks_per_sm =
      kernels::driver_function<decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor", 12000);
  // Spelled out, since headers before 12.3 do not declare it.
  using GetName = CUresult(const char**, CUfunction);
  GetName* name = kernels::driver_function<GetName>("cuFuncGetName", 12030);

  bool complete() const {
    return node_params != nullptr && function_of != nullptr && attribute != nullptr &&
           blocks_per_sm != nullptr && name != nullptr;
  }
};

const Driver& driver() {
  static const Driver driver;
  return driver;
}

CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& node) {
  CUfunction function = node.func;
  if (function == nullptr && driver().function_of(&function, node.kern) != CUDA_SUCCESS) {
    return nullptr;
  }
  return function;
}

std::optional<kernels::KernelResources> resources(const CUDA_KERNEL_NODE_PARAMS& node,
                                                  int threads_per_sm) {
  const CUfunction function = function_of(node);
  if (function == nullptr) return std::nullopt;
  kernels::KernelResources kernel;
  kernel.blocks = static_cast<std::int64_t>(node.gridDimX) * node.gridDimY * node.gridDimZ;
  kernel.threads_per_block = static_cast<int>(node.blockDimX * node.blockDimY * node.blockDimZ);
  kernel.dynamic_shared_bytes = static_cast<int>(node.sharedMemBytes);
  const char* name = nullptr;
  const bool told =
      driver().name(&name, function) == CUDA_SUCCESS &&
      driver().attribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS &&
      driver().attribute(&kernel.static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                         function) == CUDA_SUCCESS &&
      driver().blocks_per_sm(&kernel.blocks_per_sm, function, kernel.threads_per_block,
                             node.sharedMemBytes) == CUDA_SUCCESS;
  if (!told) return std::nullopt;
  kernel.name = kernels::readable_name(name);
  kernel.occupancy = static_cast<double>(kernel.blocks_per_sm) * kernel.threads_per_block /
                     static_cast<double>(threads_per_sm);
  return kernel;
}

}  // namespace

std::vector<kernels::KernelResources> graph_kernels(const kernels::Graph& graph,
                                                    int threads_per_sm) {
  std::vector<kernels::KernelResources> kernels;
  if (!driver().complete()) return kernels;
  for (const cudaGraphNode_t node : graph.nodes()) {
    cudaGraphNodeType type{};
    FUSEGATE_CUDA(cudaGraphNodeGetType(node, &type));
    CUDA_KERNEL_NODE_PARAMS params{};
    if (type != cudaGraphNodeTypeKernel) continue;
    if (driver().node_params(node, &params) != CUDA_SUCCESS) continue;
    if (auto kernel = resources(params, threads_per_sm)) kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

}  // namespace fusegate::bench
