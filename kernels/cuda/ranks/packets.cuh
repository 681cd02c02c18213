// Exchanges of short tensors in one kernel. Data goes in packets, which have their flags with them:
// twice the bytes, but no flag has to follow its data. Sums are in the order of the ranks and in
// fp32, so that all get the same bits. A packet has kPacketData bytes of a tensor, a uint2.
#pragma once

#include <cstdint>

#include "kernels/cuda/ranks/bf16_sums.cuh"
#include "kernels/cuda/ranks/one_shot_plan.h"
#include "kernels/cuda/ranks/peer_access.cuh"

namespace fusegate::kernels::ranks {

// Sends send(to, i) to each other rank `to` and then calls receive(i, data_of), for each of so many
// packets i; data_of(rank): what another rank has sent.
template <typename Send, typename Receive>
__device__ inline void exchange_packets(const RankExchange& exchange, int packets, const Send& send,
                                        const Receive& receive) {
  wait_for_kernels_ahead();
  let_next_start();
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int first = block * kOneShotThreads + thread, step = blocks * kOneShotThreads;
  const std::uint32_t number = load_counter(exchange.counter(block));
  // All of them are under way before it waits for one.
  for (int i = first; i < packets; i += step) {
    for (int to = 0; to < exchange.count; ++to) {
      if (to == exchange.rank) continue;
      store_packet(exchange.packet(to, exchange.rank, number, i), send(to, i), number);
    }
  }
  for (int i = first; i < packets; i += step) {
    receive(i, [&](int of) {
      return wait_for_packet(exchange.packet(exchange.rank, of, number, i), number);
    });
  }
  __syncthreads();  // all have read the counter
  end_exchange(exchange, number, block, blocks, thread, kOneShotThreads);
}

// own: this rank's summand of packet i.
template <typename DataOf>
__device__ inline uint2 sum_of_ranks(const RankExchange& exchange, const uint2& own,
                                     const DataOf& data_of) {
  float sums[4] = {};
  for (int rank = 0; rank < exchange.count; ++rank) {
    const uint2 part = rank == exchange.rank ? own : data_of(rank);
    add_to(sums[0], sums[1], part.x);
    add_to(sums[2], sums[3], part.y);
  }
  return {rounded(sums[0], sums[1]), rounded(sums[2], sums[3])};
}

// out: the summand, and then the sum.
__global__ void __launch_bounds__(kOneShotThreads, kOneShotBlocks)
    packets_all_reduce_kernel(const __grid_constant__ RankExchange exchange, uint2* out,
                              int packets) {
  exchange_packets(
      exchange, packets, [&](int, int i) { return out[i]; },
      [&](int i, const auto& data_of) { out[i] = sum_of_ranks(exchange, out[i], data_of); });
}

// whole: of so many packets a rank.
__global__ void __launch_bounds__(kOneShotThreads, kOneShotBlocks)
    packets_all_gather_kernel(const __grid_constant__ RankExchange exchange, const uint2* part,
                              uint2* whole, int packets) {
  exchange_packets(
      exchange, packets, [&](int, int i) { return part[i]; },
      [&](int i, const auto& data_of) {
        for (int rank = 0; rank < exchange.count; ++rank) {
          whole[rank * packets + i] = rank == exchange.rank ? part[i] : data_of(rank);
        }
      });
}

// summand: of so many packets a rank.
__global__ void __launch_bounds__(kOneShotThreads, kOneShotBlocks)
    packets_reduce_scatter_kernel(const __grid_constant__ RankExchange exchange,
                                  const uint2* summand, uint2* part, int packets) {
  exchange_packets(
      exchange, packets, [&](int to, int i) { return summand[to * packets + i]; },
      [&](int i, const auto& data_of) {
        part[i] = sum_of_ranks(exchange, summand[exchange.rank * packets + i], data_of);
      });
}

}  // namespace fusegate::kernels::ranks
