#include "kernels/cuda/ranks/peer_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "kernels/cuda/device/cuda.h"

namespace fusegate::kernels {
namespace {

// What a rank gives the others.
struct Offer {
  cudaIpcMemHandle_t handle;
  char bus[32];    // of its GPU
  char card[160];  // "NVIDIA H200, GPU-..."
};

std::string bytes_of(const Offer& offer) {
  return {reinterpret_cast<const char*>(&offer), sizeof(offer)};
}
Offer offer_of(const std::string& bytes) {
  Offer offer{};
  if (bytes.size() != sizeof(offer)) throw DeviceError("a rank offers something else than memory");
  std::memcpy(&offer, bytes.data(), sizeof(offer));
  return offer;
}

// Whether this process sees that GPU and cannot access its memory.
bool is_out_of_reach(const char* bus) {
  int here = 0, there = 0, can = 0;
  FUSEGATE_CUDA(cudaGetDevice(&here));
  if (cudaDeviceGetByPCIBusId(&there, bus) != cudaSuccess) {
    cudaGetLastError();  // CUDA_VISIBLE_DEVICES hides it; opening its memory may work all the same
    return false;
  }
  if (here == there) return false;
  FUSEGATE_CUDA(cudaDeviceCanAccessPeer(&can, here, there));
  return can == 0;
}

ExchangeRoom larger(const ExchangeRoom& a, const ExchangeRoom& b) {
  return {std::max(a.slot_bytes, b.slot_bytes), std::max(a.gathered_bytes, b.gathered_bytes)};
}

bool fits(const ExchangeRoom& needed, const ExchangeRoom& room) {
  return needed.slot_bytes <= room.slot_bytes && needed.gathered_bytes <= room.gathered_bytes;
}

// To a power of two, so that buffers that grow take at most twice the last one's memory.
std::int64_t rounded_up(std::int64_t bytes) {
  constexpr std::int64_t kLeast = 1 << 20;
  return bytes == 0 ? 0
                    : static_cast<std::int64_t>(
                          std::bit_ceil(static_cast<std::uint64_t>(std::max(bytes, kLeast))));
}

}  // namespace

std::shared_ptr<const PeerBuffer> PeerBuffer::of(CudaDevice& device, const ExchangeRoom& room) {
  std::shared_ptr<void>& kept =
      device.kept()[fmt::format("peer buffer of {}", device.ranks().count())];
  const auto known = std::static_pointer_cast<const PeerBuffer>(kept);
  if (known && fits(room, known->room_)) return known;
  const ExchangeRoom grown = known ? larger(room, known->room_) : room;
  kept = std::shared_ptr<PeerBuffer>(
      new PeerBuffer(device, {rounded_up(grown.slot_bytes), rounded_up(grown.gathered_bytes)}));
  return std::static_pointer_cast<const PeerBuffer>(kept);
}

PeerBuffer::PeerBuffer(CudaDevice& device, const ExchangeRoom& room) : room_(room) {
  Ranks& ranks = device.ranks();
  if (ranks.count() > kMostRanks) {
    throw DeviceError(
        fmt::format("kernels that exchange data are built for {} ranks at most, and "
                    "there are {}",
                    kMostRanks, ranks.count()));
  }
  exchange_.slot_bytes = room.slot_bytes;
  exchange_.rank = ranks.rank();
  exchange_.count = ranks.count();
  Offer mine{};
  ranks.together("making memory for other ranks", [&] {
    make_own();
    FUSEGATE_CUDA(cudaIpcGetMemHandle(&mine.handle, exchange_.buffers[exchange_.rank]));
    int here = 0;
    FUSEGATE_CUDA(cudaGetDevice(&here));
    FUSEGATE_CUDA(cudaDeviceGetPCIBusId(mine.bus, sizeof(mine.bus), here));
    (device.name() + ", " + device.uuid()).copy(mine.card, sizeof(mine.card) - 1);
  });
  // No rank opens, and so none writes, before all have cleared theirs.
  const std::vector<std::string> offers = ranks.gather("memory for other ranks", bytes_of(mine));
  ranks.together("opening other ranks' memory", [&] { open(device, offers); });
}

void PeerBuffer::make_own() {
  const auto bytes = static_cast<std::size_t>(exchange_.gathered_at() + room_.gathered_bytes);
  void* data = nullptr;
  FUSEGATE_CUDA(cudaMalloc(&data, bytes));
  exchange_.buffers[exchange_.rank] = static_cast<std::byte*>(data);
  FUSEGATE_CUDA(cudaMemset(data, 0, bytes));
  const std::vector<std::uint32_t> first(kCounters, 1);  // flags are of no exchange
  FUSEGATE_CUDA(
      cudaMemcpy(data, first.data(), first.size() * sizeof(first[0]), cudaMemcpyHostToDevice));
  FUSEGATE_CUDA(cudaDeviceSynchronize());
}

void PeerBuffer::open(const CudaDevice& device, const std::vector<std::string>& offers) {
  for (int rank = 0; rank < exchange_.count; ++rank) {
    if (rank == exchange_.rank) continue;
    const Offer offer = offer_of(offers[static_cast<std::size_t>(rank)]);
    const auto refuse = [&](const std::string& why) {
      throw DeviceError(
          fmt::format("rank {} on {}, {} cannot reach the memory of rank {} on {}: {}",
                      exchange_.rank, device.name(), device.uuid(), rank, offer.card, why));
    };
    if (is_out_of_reach(offer.bus)) refuse("the GPUs have no peer access");
    void* data = nullptr;
    const cudaError_t status =
        cudaIpcOpenMemHandle(&data, offer.handle, cudaIpcMemLazyEnablePeerAccess);
    if (status != cudaSuccess) {
      cudaGetLastError();  // would fail the next launch's check
      refuse(fmt::format("{}; ranks must be processes of one host that share an IPC namespace",
                         cudaGetErrorString(status)));
    }
    exchange_.buffers[rank] = static_cast<std::byte*>(data);
  }
}

std::vector<std::span<std::byte>> PeerBuffer::memory() const {
  const auto bytes = static_cast<std::size_t>(exchange_.gathered_at() + room_.gathered_bytes);
  std::vector<std::span<std::byte>> all;
  for (int rank = 0; rank < exchange_.count; ++rank)
    all.emplace_back(exchange_.buffers[rank], bytes);
  return all;
}

}  // namespace fusegate::kernels
