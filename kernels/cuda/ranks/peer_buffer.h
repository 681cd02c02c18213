// Memory of each rank that the others write to (rank_exchange.h), by CUDA's inter-process handles:
// ranks are processes of one host, on GPUs with peer access. Multicast is not used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device/cuda_device.h"
#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels {

class PeerBuffer {
 public:
  // With at least that room. All ranks call it at the same point with the same room. The device
  // keeps it for the kernels to come of so many ranks; a larger one is made where it is too small,
  // and none is freed before the process ends, since other ranks have it open. Throws DeviceError
  // where a GPU cannot reach another's memory, naming both; RankError where another rank fails.
  static std::shared_ptr<const PeerBuffer> of(CudaDevice& device, const ExchangeRoom& room);

  const RankExchange& exchange() const { return exchange_; }
  // All ranks' buffers, by rank.
  std::vector<std::span<std::byte>> memory() const;

 private:
  PeerBuffer(CudaDevice& device, const ExchangeRoom& room);
  void make_own();
  void open(const CudaDevice& device, const std::vector<std::string>& offers);

  ExchangeRoom room_;
  RankExchange exchange_;
};

}  // namespace fusegate::kernels
