// The driver's functions that describe a captured graph's nodes, whichever library they are from:
// the runtime has no handle for cuBLAS's kernels.
#pragma once

#include <cuda.h>

#include "kernels/cuda/device/driver_function.h"

namespace fusegate::bench {

// Each null where the driver is too old. Spelled out where headers before 12.4 do not declare them.
struct GraphDriver {
  using GetName = CUresult(const char**, CUfunction);
  using GetParameter = CUresult(CUfunction, std::size_t, std::size_t*, std::size_t*);
  template <typename Function>
  static Function* find(const char* name, unsigned since = 12000) {
    return kernels::driver_function<Function>(name, since);
  }

  decltype(cuGraphKernelNodeGetParams)* node_params =
      find<decltype(cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams");
  decltype(cuGraphKernelNodeGetAttribute)* node_attribute =
      find<decltype(cuGraphKernelNodeGetAttribute)>("cuGraphKernelNodeGetAttribute");
  decltype(cuKernelGetFunction)* get_function =
      find<decltype(cuKernelGetFunction)>("cuKernelGetFunction");
  decltype(cuFuncGetAttribute)* attribute =
      find<decltype(cuFuncGetAttribute)>("cuFuncGetAttribute");
  decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)* blocks_per_sm =
      find<decltype(cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  decltype(cuMemGetAddressRange)* address_range =
      find<decltype(cuMemGetAddressRange)>("cuMemGetAddressRange");
  decltype(cuGraphAddKernelNode)* add_kernel =
      find<decltype(cuGraphAddKernelNode)>("cuGraphAddKernelNode");
  GetName* name = find<GetName>("cuFuncGetName", 12030);
  GetParameter* parameter = find<GetParameter>("cuFuncGetParamInfo", 12040);

  bool knows_kernels() const {
    return node_params != nullptr && get_function != nullptr && attribute != nullptr &&
           blocks_per_sm != nullptr && name != nullptr;
  }
  bool knows_arguments() const {
    return knows_kernels() && node_attribute != nullptr && address_range != nullptr &&
           parameter != nullptr;
  }
  // Null where the driver does not know it.
  CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS& node) const {
    CUfunction function = node.func;
    if (function == nullptr && get_function(&function, node.kern) != CUDA_SUCCESS) return nullptr;
    return function;
  }
};

inline const GraphDriver& driver() {
  static const GraphDriver driver;
  return driver;
}

}  // namespace fusegate::bench
