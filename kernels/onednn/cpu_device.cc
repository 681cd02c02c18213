#include "kernels/onednn/cpu_device.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

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
    .open = [] { return std::make_unique<CpuDevice>(); },
}};

}  // namespace

CpuDevice::CpuDevice() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
  // Leaves one core free. With a thread on every core, any other program makes all threads wait at
  // the next barrier: 8 ms instead of 0.1 ms (seen on two busy cores).
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    omp_set_num_threads(std::max(1, omp_get_num_procs() - 1));
  }
  // Every primitive has code of its own (store()).
  dnnl::set_primitive_cache_capacity(0);
}

std::string CpuDevice::name() const { return model_name(); }

std::map<std::string, std::string> CpuDevice::versions() const {
  const dnnl::version_t& version = *dnnl_version();
  return {{"onednn", fmt::format("{}.{}.{}", version.major, version.minor, version.patch)},
          {"threads", std::to_string(omp_get_max_threads())},
          // A dnnl_cpu_isa_t.
          {"isa", fmt::format("{:#x}", static_cast<unsigned>(dnnl::get_effective_cpu_isa()))}};
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

void CpuDevice::synchronize() { stream_.wait(); }

}  // namespace fusegate::kernels
