// Replaces cuda/device/cuda_device.h and cublas_device.h: an H200 of a few SMs, whose memory is the
// host's.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/known_gpus.h"
#include "kernels/onednn/cpu_device.h"

namespace fusegate::kernels {

class CudaDevice : public CpuDevice {
 public:
  CudaDevice() { properties_.major = 9; }

  std::string name() const override { return "an emulated H200"; }
  const cudaDeviceProp& properties() const { return properties_; }
  // Few, so that a block has several tiles of a small problem.
  GpuLimits limits() const {
    GpuLimits few = kH200;
    few.sm_count = 8;
    return few;
  }
  cudaStream_t stream() const { return nullptr; }
  const Memory& workspace() const { return workspace_; }

 private:
  cudaDeviceProp properties_{};
  Memory workspace_ = allocate(2 << 20);
};
using CublasDevice = CudaDevice;  // of the tests' fixture, which has products from the host

}  // namespace fusegate::kernels
