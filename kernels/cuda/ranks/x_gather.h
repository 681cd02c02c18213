// An all-gather of x's rows by copy engines, beside kernels: this rank's rows go to all others
// piece by piece, each followed by a flag that gathering_gemm.cuh waits for. It uses no SM.
#pragma once

#include <memory>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/ranks/overlapped_plan.h"

namespace fusegate::kernels {

class XGather {
 public:
  // x: this rank's rows.
  XGather(CudaDevice& device, const GatheringPlan& plan, const RankExchange& exchange,
          const Tensor& x);

  // Begins when what is on the device's stream has ended. Enqueue it before the product that waits:
  // then both can also run in that order.
  void begin() const;
  // What follows on the device's stream waits for the copies.
  void end() const;

 private:
  struct Streams;
  static std::shared_ptr<const Streams> streams_of(CudaDevice& device);
  void send(int to, cudaStream_t stream) const;

  cudaStream_t stream_;
  int chunk_rows_;
  RankExchange exchange_;
  Tensor x_;
  std::shared_ptr<const Streams> streams_;
};

}  // namespace fusegate::kernels
