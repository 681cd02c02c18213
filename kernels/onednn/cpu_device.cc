#include "kernels/onednn/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "kernels/contract/number_format.h"
#include "kernels/contract/random.h"

namespace fusegate::kernels {
namespace {

// A page, as oneDNN's own buffers, so that alignment does not add noise.
constexpr std::size_t kAlignment = 4096;

std::string model_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

const DeviceRegistration registered{{
    .name = "cpu",
    .preference = 0,
    .open = [](int) { return std::make_unique<CpuDevice>(); },
}};

}  // namespace

std::string CpuDevice::name() const { return model_name(); }

std::map<std::string, std::string> CpuDevice::versions() const {
  return {{"threads", std::to_string(std::thread::hardware_concurrency())}};
}

std::size_t CpuDevice::available_bytes() const {
  // The kernel's estimate, which counts the page cache too.
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    constexpr std::string_view kField = "MemAvailable:";
    if (line.starts_with(kField)) return std::stoull(line.substr(kField.size())) * 1024;
  }
  throw DeviceError("/proc/meminfo: MemAvailable is missing");
}

Memory CpuDevice::allocate(std::size_t bytes) {
  // Linux overcommits memory and kills processes that use it, so check first.
  void* const data = bytes <= available_bytes()
                         ? std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment)
                         : nullptr;
  if (data == nullptr) {
    throw DeviceError(
        fmt::format("cannot allocate {} bytes; {} are free", bytes, available_bytes()));
  }
  return Memory(data, bytes, [](void* pointer) { std::free(pointer); });
}

void CpuDevice::fill(const Tensor& tensor, const Fill& fill, std::uint64_t seed) {
  const FillNumbers numbers(fill);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    store_element(tensor.data, tensor.dtype, i, numbers.at(seed, static_cast<std::uint64_t>(i)));
  }
}

void CpuDevice::poison(const Tensor& tensor) { std::memset(tensor.data, 0xff, tensor.bytes()); }

void CpuDevice::copy(const void* from, void* to, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void CpuDevice::copy_to_host(const void* from, std::span<std::byte> to) {
  std::memcpy(to.data(), from, to.size());
}

void CpuDevice::copy_to_device(std::span<const std::byte> from, void* to) {
  std::memcpy(to, from.data(), from.size());
}

// Sums of hashes of words, the last padded with zeros.
std::uint64_t CpuDevice::digest(const Tensor& tensor) {
  const auto* const bytes = static_cast<const std::byte*>(tensor.data);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < tensor.bytes(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof(word), tensor.bytes() - at));
    sum += random_bits(word, at);
  }
  return sum;
}

}  // namespace fusegate::kernels
