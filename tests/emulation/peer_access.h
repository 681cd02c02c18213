// Replaces ranks/peer_access.cuh: its functions on emulated GPUs, whose memory is the host's.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <cstring>

#include "kernels/cuda/ranks/rank_exchange.h"
#include "tests/emulation/cluster.h"
#include "tests/emulation/threads.h"

namespace fusegate::kernels::ranks {

using emulation::Cluster;

inline void set_flag(std::uint32_t* flag, std::uint32_t exchange) {
  Cluster::here().set_flag([=] {
    // Those of two exchanges in a row may come in any order here.
    if (!has_reached(*flag, exchange)) *flag = exchange;
  });
}
inline void wait_for_flag(const std::uint32_t* flag, std::uint32_t exchange) {
  Cluster::here().wait_for_flag([=] { return has_reached(*flag, exchange); });
}
inline std::uint32_t load_counter(const std::uint32_t* counter) { return *counter; }
inline void store_to_rank(void* to, const uint4& value) {
  Cluster::here().store(to, &value, sizeof(value));
}
inline uint4 load_of_rank(const void* from) {
  uint4 value{};
  std::memcpy(&value, from, sizeof(value));
  return value;
}
// It comes at any time, and orders nothing.
inline void store_packet(void* to, const uint2& data, std::uint32_t exchange) {
  const uint4 packet{data.x, exchange, data.y, exchange};
  Cluster::here().set_flag([=] { std::memcpy(to, &packet, sizeof(packet)); });
}
inline uint2 wait_for_packet(const void* from, std::uint32_t exchange) {
  Cluster::here().wait_for_flag([=] {
    const uint4 packet = load_of_rank(from);
    return packet.y == exchange && packet.w == exchange;
  });
  const uint4 packet = load_of_rank(from);
  return {packet.x, packet.z};
}
inline void wait_for_kernels_ahead() { Cluster::here().wait_for_previous_kernel(); }
inline void let_next_start() {}
inline void fence_loads_by_tma() {}
inline void end_exchange(const RankExchange& exchange, std::uint32_t number, int block, int blocks,
                         int thread = 0, int threads = 1) {
  for (int i = block + thread * blocks; i < kCounters; i += threads * blocks) {
    *exchange.counter(i) = number + 1;
  }
}

}  // namespace fusegate::kernels::ranks
