// activation(g) * u compiled at run time for one number of elements: sizes are constants, the grid
// is exact, and where elements fill it there is no bounds check. Compiled once per process and
// shape.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/contract/activation.h"
#include "kernels/contract/device.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/pointwise/pointwise_plan.h"

namespace fusegate::kernels {

struct GatedShape {
  Activation activation;  // one of kActivations
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Dtype dtype = Dtype::kBf16;
};

// Threads of a block: the most that the elements fill exactly, up to 1024 for a large output
// (is_large_output), else up to 256.
unsigned specialized_threads(const GatedShape& shape, std::size_t l2_bytes);

// Machine code for an architecture such as "sm_90". Needs no GPU. Throws DeviceError with NVRTC's
// log.
std::vector<char> compile_gated(const GatedShape& shape, unsigned threads,
                                const std::string& architecture);

struct SpecializedGated {
  cudaKernel_t kernel = nullptr;
  LaunchShape launch;
  std::string choice;  // the same in every process
  double compile_ms = 0;

  // Addresses are multiples of 16; out is not g or u.
  void enqueue(const Tensor& g, const Tensor& u, const Tensor& out, cudaStream_t stream) const;
};

// Compiles it for the device at the first call. Lives as long as the process.
const SpecializedGated& specialized_gated(const GatedShape& shape, const cudaDeviceProp& device);

}  // namespace fusegate::kernels
