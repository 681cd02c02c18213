// One NVIDIA GPU as a device, by its number among those that CUDA shows, on a stream of its own. It
// needs no library but CUDA's runtime (cublas_device.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/contract/device.h"
#include "kernels/contract/layout_arena.h"
#include "kernels/cuda/device/cuda_reference.h"
#include "kernels/cuda/device/gpu_limits.h"
#include "kernels/cuda/device/taken_launch.h"

namespace fusegate::kernels {

int gpu_count();  // 0 without a driver

// Whether there is a GPU. Throws DeviceError where there are GPUs, and none of that number.
bool finds_gpu(int number);

// Opens a kind of CudaDevice; null where this machine has no GPU.
template <typename Gpu>
std::unique_ptr<Device> open_gpu(int number) {
  return finds_gpu(number) ? std::make_unique<Gpu>(number) : nullptr;
}

class CudaDevice : public Device {
 public:
  // workspace_bytes: for a library's products, which run one after another on the stream. Throws
  // DeviceError where the GPU cannot be used.
  explicit CudaDevice(int number = 0, std::size_t workspace_bytes = 0);
  ~CudaDevice() override;
  // Kernels capture the stream; a copy would free it twice.
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::string_view kind() const override { return "cuda"; }
  std::string name() const override { return properties_.name; }
  std::string uuid() const override;
  std::map<std::string, std::string> versions() const override;
  std::size_t available_bytes() const override;
  Memory allocate(std::size_t bytes) override;
  Memory allocate_lasting(std::size_t bytes) override { return allocate_by_driver(bytes); }
  bool lay_out(std::uint64_t number) override;
  void fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) override;
  void poison(const Tensor& tensor) override;
  void copy(const void* from, void* to, std::size_t bytes) override;
  void copy_to_host(const void* from, std::span<std::byte> to) override;
  void copy_to_device(std::span<const std::byte> from, void* to) override;
  std::uint64_t digest(const Tensor& tensor) override;
  void pin_choices(const PinnedChoices& pinned) override { pinned_choices_ = pinned; }
  void* native_stream() const override { return stream_; }
  void synchronize() override;
  // Without matrix products, which throw DeviceError.
  ReferenceMath& reference_math() override { return reference_; }

  // LayoutArena::unused_around; nothing where the driver lays out memory. all: any memory that was
  // allocated here, and outside of a layout.
  std::optional<std::span<std::byte>> unused_around(const void* address, bool all = false) const;

  const cudaDeviceProp& properties() const { return properties_; }
  GpuLimits limits() const;
  cudaStream_t stream() const { return stream_; }
  const Memory& workspace() const { return workspace_; }
  // Choices measured so far (autotune.h), by what is computed and candidates: a benchmark is
  // prepared once per memory layout.
  std::map<std::string, TakenLaunch>& launch_choices() { return launch_choices_; }
  const PinnedChoices& pinned_choices() const { return pinned_choices_; }
  // What later preparations use again, by name, such as a communicator.
  std::map<std::string, std::shared_ptr<void>>& kept() { return kept_; }

 protected:
  // Outside any memory layout.
  Memory allocate_by_driver(std::size_t bytes);

 private:
  std::unique_ptr<LayoutArena> make_arena();

  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  // Allocated outside of layouts: begin and bytes. Memory may outlive the device.
  std::shared_ptr<std::map<std::byte*, std::size_t>> by_driver_ =
      std::make_shared<std::map<std::byte*, std::size_t>>();
  std::unique_ptr<LayoutArena> arena_;  // null while the driver lays out memory
  Memory workspace_;
  Memory digest_;
  std::map<std::string, TakenLaunch> launch_choices_;
  PinnedChoices pinned_choices_;
  std::map<std::string, std::shared_ptr<void>> kept_;
  CudaReference reference_;
};

}  // namespace fusegate::kernels
