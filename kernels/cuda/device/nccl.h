// NVIDIA's collectives, NCCL, opened at run time: a program must start without it. Unless the
// environment says otherwise, multicast over NVLink stays off (NCCL_NVLS_ENABLE=0), and so do the
// events with which NCCL keeps graphs apart that run at once (NCCL_GRAPH_MIXING_SUPPORT=0): they
// would lie between the calls of a batch. Errors are thrown as DeviceError.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {

// Why it cannot be used, with what to do; "" where it can.
std::string refuses_nccl();
// Of what was opened: "2.27.7". Throws DeviceError with the refusal.
std::string nccl_version();

// What a process needs to take part in collectives of its device's ranks. They are enqueued on the
// device's stream, and may be captured once each was called. None may be enqueued before a graph
// with captured ones has ended.
class NcclRanks {
 public:
  // All ranks call it at the same point. The first time for so many ranks takes about a second; the
  // device keeps it. Throws RankError where another rank fails.
  static std::shared_ptr<const NcclRanks> of(CudaDevice& device);

  // Of bf16, fp16 or fp32. out: the sum of all ranks' summands, and may be the summand.
  void all_reduce(const Tensor& summand, const Tensor& out) const;
  // whole: the parts of all ranks in their order.
  void all_gather(const Tensor& part, const Tensor& whole) const;
  // part: this rank's of the sum of all summands.
  void reduce_scatter(const Tensor& summand, const Tensor& part) const;

 private:
  explicit NcclRanks(CudaDevice& device);

  void* communicator_ = nullptr;  // until the process ends: to destroy it waits for other ranks
  cudaStream_t stream_;
};

}  // namespace fusegate::kernels
