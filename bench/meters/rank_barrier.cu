#include "bench/meters/rank_barrier.h"
#include "kernels/cuda/device/cuda.h"

namespace fusegate::bench {
namespace {

constexpr int kApart = static_cast<int>(kernels::Ranks::kNumbersApart);

// numbers: of each rank how often it has been here with so many ranks; only that rank writes it.
// They only grow, so that a rank that is behind finds no less than it waits for. The difference is
// right beyond 2^31 times too.
__global__ void wait_for_ranks(volatile std::uint32_t* numbers, int rank, int ranks,
                               std::uint32_t* passed) {
  const std::uint32_t now = passed[ranks] + 1;
  passed[ranks] = now;
  __threadfence_system();
  numbers[rank * kApart + ranks] = now;
  for (int other = 0; other < ranks; ++other) {
    while (static_cast<std::int32_t>(numbers[other * kApart + ranks] - now) < 0) {
    }
  }
  __threadfence_system();
}

}  // namespace

RankBarrier::RankBarrier(kernels::CudaDevice& device)
    : device_(device),
      numbers_(device.ranks().shared_numbers().data()),
      passed_(device.allocate_lasting(kApart * sizeof(std::uint32_t))) {
  FUSEGATE_CUDA(cudaMemsetAsync(passed_.data(), 0, passed_.bytes(), device.stream()));
  const std::size_t bytes = device.ranks().shared_numbers().size_bytes();
  FUSEGATE_CUDA(cudaHostRegister(numbers_, bytes, cudaHostRegisterMapped));
  void* on_device = nullptr;
  FUSEGATE_CUDA(cudaHostGetDevicePointer(&on_device, numbers_, 0));
  on_device_ = static_cast<std::uint32_t*>(on_device);
  device.synchronize();
}

RankBarrier::~RankBarrier() { cudaHostUnregister(numbers_); }

void RankBarrier::enqueue() {
  const kernels::Ranks& ranks = device_.ranks();
  if (!ranks.are_several()) return;
  wait_for_ranks<<<1, 1, 0, device_.stream()>>>(on_device_, ranks.rank(), ranks.count(),
                                                static_cast<std::uint32_t*>(passed_.data()));
  FUSEGATE_CUDA(cudaGetLastError());
}

}  // namespace fusegate::bench
