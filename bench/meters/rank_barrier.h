// A point that the devices of several ranks pass together. One a process: it counts from the start.
#pragma once

#include <cstdint>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::bench {

class RankBarrier {
 public:
  // Of a device that has joined several ranks; both must outlive it.
  explicit RankBarrier(kernels::CudaDevice& device);
  ~RankBarrier();
  RankBarrier(const RankBarrier&) = delete;
  RankBarrier& operator=(const RankBarrier&) = delete;

  // On the device's stream, also while it captures: what follows begins when every rank's device is
  // here. All ranks must pass as often, in graphs that are launched again too.
  void enqueue();

 private:
  kernels::CudaDevice& device_;
  void* numbers_;                       // shared memory of the hosts, which the device may write
  std::uint32_t* on_device_ = nullptr;  // the same, as the device has it
  kernels::Memory passed_;              // how often, by the number of ranks, on the device
};

}  // namespace fusegate::bench
