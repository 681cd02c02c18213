#include "kernels/cuda/device/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/fill.h"

namespace fusegate::kernels {
namespace {

const DeviceRegistration registered{
    {.name = "cuda", .preference = 2, .open = &open_gpu<CudaDevice>, .count = &gpu_count}};

cudaStream_t open_stream(int number, cudaDeviceProp& properties) {
  FUSEGATE_CUDA(cudaSetDevice(number));
  FUSEGATE_CUDA(cudaGetDeviceProperties(&properties, number));
  cudaStream_t stream = nullptr;
  FUSEGATE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

}  // namespace

int gpu_count() {
  int count = 0;
  // Neither a missing driver nor a missing GPU is an error here.
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

bool finds_gpu(int number) {
  const int count = gpu_count();
  if (count == 0 || number < count) return count > 0;
  throw DeviceError(fmt::format("GPU {} is needed, and CUDA shows {}, from 0 on", number, count));
}

CudaDevice::CudaDevice(int number, std::size_t workspace_bytes)
    : stream_(open_stream(number, properties_)),
      reference_(stream_, [this](std::size_t bytes) { return allocate_by_driver(bytes); }) {
  if (workspace_bytes > 0) workspace_ = allocate(workspace_bytes);
  digest_ = allocate(sizeof(unsigned long long));
}

CudaDevice::~CudaDevice() {
  cudaStreamDestroy(stream_);  // an error is ignored: the process is about to end
}

std::string CudaDevice::uuid() const {
  // As NVML and nvidia-smi print it: GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", dash ? "-" : "",
                        static_cast<unsigned char>(properties_.uuid.bytes[i]));
  }
  return text;
}

std::map<std::string, std::string> CudaDevice::versions() const {
  int runtime = 0;
  FUSEGATE_CUDA(cudaRuntimeGetVersion(&runtime));
  return {{"cuda", fmt::format("{}.{}", runtime / 1000, runtime % 1000 / 10)}};
}

GpuLimits CudaDevice::limits() const {
  return {.sm_count = properties_.multiProcessorCount,
          .shared_bytes_per_block = properties_.sharedMemPerBlockOptin,
          .shared_bytes_per_sm = properties_.sharedMemPerMultiprocessor,
          .l2_bytes = static_cast<std::size_t>(properties_.l2CacheSize)};
}

std::size_t CudaDevice::available_bytes() const {
  std::size_t available = 0, total = 0;
  FUSEGATE_CUDA(cudaMemGetInfo(&available, &total));
  return available;
}

std::unique_ptr<LayoutArena> CudaDevice::make_arena() {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 30, kMostBlocks = 16;
  const std::size_t count = std::min(kMostBlocks, available_bytes() / 4 / kBlockBytes);
  if (count == 0) return nullptr;
  std::vector<Memory> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back(allocate_by_driver(kBlockBytes));
    by_driver_->erase(static_cast<std::byte*>(blocks.back().data()));  // the arena knows its own
  }
  return std::make_unique<LayoutArena>(std::move(blocks), kBlockBytes, std::random_device{}());
}

bool CudaDevice::lay_out(std::uint64_t number) {
  if (!arena_) arena_ = make_arena();
  if (arena_) arena_->begin(number);
  return arena_ != nullptr;
}

std::optional<std::span<std::byte>> CudaDevice::unused_around(const void* address, bool all) const {
  const auto* const at = static_cast<const std::byte*>(address);
  for (const auto& [begin, bytes] : *by_driver_) {
    if (all && begin <= at && at < begin + bytes) return std::span(begin, bytes);
  }
  return arena_ ? arena_->unused_around(address) : std::nullopt;
}

Memory CudaDevice::allocate(std::size_t bytes) {
  if (arena_) {
    if (std::optional<Memory> memory = arena_->allocate(bytes)) return std::move(*memory);
  }
  return allocate_by_driver(bytes);
}

Memory CudaDevice::allocate_by_driver(std::size_t bytes) {
  void* data = nullptr;
  if (const cudaError_t status = cudaMalloc(&data, bytes); status != cudaSuccess) {
    cudaGetLastError();  // clears the error, which would fail the next launch's check
    throw DeviceError(fmt::format("cannot allocate {} bytes on {}: {}; {} are free", bytes, name(),
                                  cudaGetErrorString(status), available_bytes()));
  }
  by_driver_->emplace(static_cast<std::byte*>(data), bytes);
  return Memory(data, bytes, [known = by_driver_](void* pointer) {
    known->erase(static_cast<std::byte*>(pointer));
    cudaFree(pointer);
  });
}

void CudaDevice::fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) {
  enqueue_fill(tensor, fill, seed, stream_);
}

void CudaDevice::poison(const Tensor& tensor) {
  FUSEGATE_CUDA(cudaMemsetAsync(tensor.data, 0xff, tensor.bytes(), stream_));
}

void CudaDevice::copy(const void* from, void* to, std::size_t bytes) {
  FUSEGATE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
}

void CudaDevice::copy_to_host(const void* from, std::span<std::byte> to) {
  FUSEGATE_CUDA(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_));
  synchronize();
}

void CudaDevice::copy_to_device(std::span<const std::byte> from, void* to) {
  FUSEGATE_CUDA(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_));
  synchronize();
}

std::uint64_t CudaDevice::digest(const Tensor& tensor) {
  unsigned long long sum = 0;
  FUSEGATE_CUDA(cudaMemsetAsync(digest_.data(), 0, sizeof(sum), stream_));
  enqueue_digest(tensor, static_cast<unsigned long long*>(digest_.data()), stream_);
  copy_to_host(digest_.data(), std::as_writable_bytes(std::span(&sum, 1)));
  return sum;
}

void CudaDevice::synchronize() {
  FUSEGATE_CUDA(cudaStreamSynchronize(stream_));
  FUSEGATE_CUDA(cudaGetLastError());
}

cudaStream_t cuda_stream(const Device& device) {
  const auto* const gpu = dynamic_cast<const CudaDevice*>(&device);
  if (gpu == nullptr)
    throw DeviceError(fmt::format("expected a CUDA device, got a {} device", device.kind()));
  return gpu->stream();
}

}  // namespace fusegate::kernels
