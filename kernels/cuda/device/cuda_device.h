// One NVIDIA GPU as a device: the first that CUDA shows, on a stream of its own.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <string>

#include "kernels/contract/device.h"
#include "kernels/contract/layout_arena.h"
#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/device/lt_matmul.h"
#include "kernels/cuda/device/taken_launch.h"

namespace fusegate::kernels {

class CudaDevice : public Device {
 public:
  // Throws DeviceError where the GPU cannot be used.
  CudaDevice();
  ~CudaDevice() override;
  // Kernels capture the stream and the cuBLAS handles; a copy would free them twice.
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string_view kind() const override { return "cuda"; }
  std::string name() const override { return properties_.name; }
  std::string uuid() const override;
  std::map<std::string, std::string> versions() const override;
  std::size_t available_bytes() const override;
  Memory allocate(std::size_t bytes) override;
  bool lay_out(std::uint64_t number) override;
  void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) override;
  void poison(const Tensor& tensor) override;
  void copy_to_host(const void* from, std::span<std::byte> to) override;
  void copy_to_device(std::span<const std::byte> from, void* to) override;
  std::uint64_t digest(const Tensor& tensor) override;
  void pin_choices(const PinnedChoices& pinned) override { pinned_choices_ = pinned; }
  void* native_stream() const override { return stream_; }
  void synchronize() override;
  ReferenceMath& reference_math() override { return *reference_; }

  const cudaDeviceProp& properties() const { return properties_; }
  GpuLimits limits() const;
  cudaStream_t stream() const { return stream_; }
  // Created at the first call; on the stream, in the workspace.
  cublasHandle_t cublas();
  LtContext lt() const { return {cublaslt_, stream_, workspace_.data(), workspace_.bytes()}; }
  // For all of cuBLAS's and cublasLt's matmuls, which run one after another on the stream.
  const Memory& workspace() const { return workspace_; }
  // Choices measured so far: a benchmark is prepared once per memory layout. By LtMatmul::text(),
  // and the algorithm that is required, if one is.
  std::map<std::string, LtChoice>& lt_choices() { return lt_choices_; }
  // autotune.h's, by what is computed and candidates.
  std::map<std::string, TakenLaunch>& launch_choices() { return launch_choices_; }
  const PinnedChoices& pinned_choices() const { return pinned_choices_; }

 private:
  Memory allocate_by_driver(std::size_t bytes);
  std::unique_ptr<LayoutArena> make_arena();

  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t cublaslt_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  std::unique_ptr<LayoutArena> arena_;  // null while the driver lays out memory
  Memory workspace_;
  Memory digest_;
  std::map<std::string, LtChoice> lt_choices_;
  std::map<std::string, TakenLaunch> launch_choices_;
  PinnedChoices pinned_choices_;
  std::unique_ptr<ReferenceMath> reference_;
};

}  // namespace fusegate::kernels
