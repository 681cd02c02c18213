// An all-reduce in one kernel: a rank sends each chunk of its summand to all others, and adds up
// what it has of all ranks, in their order and in fp32, so that all get the same bits. A block
// sends its next chunk before it waits for one, so that data is under way while others are added.
// Short tensors go in packets (packets.cuh).
#pragma once

#include <cstdint>

#include "kernels/cuda/ranks/bf16_sums.cuh"
#include "kernels/cuda/ranks/one_shot_plan.h"
#include "kernels/cuda/ranks/peer_access.cuh"

namespace fusegate::kernels::ranks {

// kVectors: OneShotPlan's.
template <int kVectors>
struct OneShot {
  const RankExchange& exchange;
  uint4* out;  // the summand, and then the sum
  std::int64_t vectors;
  std::uint32_t number = 0;  // of the exchange

  static constexpr int kChunk = kOneShotThreads * kVectors;

  __device__ std::int64_t at(int chunk, int i) const {
    return static_cast<std::int64_t>(chunk) * kChunk + i * kOneShotThreads +
           static_cast<int>(threadIdx.x);
  }
  // Of this thread, which stands for a rank other than its own.
  __device__ bool is_for_other() const {
    const int thread = static_cast<int>(threadIdx.x);
    return thread < exchange.count && thread != exchange.rank;
  }

  __device__ void send(int chunk) const {
    for (int to = 0; to < exchange.count; ++to) {
      if (to == exchange.rank) continue;
      auto* const slot = reinterpret_cast<uint4*>(exchange.slot(to, exchange.rank, number));
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        if (at(chunk, i) < vectors) store_to_rank(slot + at(chunk, i), out[at(chunk, i)]);
      }
    }
    __syncthreads();
    const int to = static_cast<int>(threadIdx.x);
    if (is_for_other()) set_flag(exchange.flag(to, exchange.rank, chunk), number);
  }

  __device__ void add_up(int chunk) const {
    const int from = static_cast<int>(threadIdx.x);
    if (is_for_other()) wait_for_flag(exchange.flag(exchange.rank, from, chunk), number);
    __syncthreads();
    float sums[kVectors][8] = {};
    for (int rank = 0; rank < exchange.count; ++rank) {
      const auto* const slot =
          reinterpret_cast<const uint4*>(exchange.slot(exchange.rank, rank, number));
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        if (at(chunk, i) >= vectors) continue;
        add_to(sums[i],
               rank == exchange.rank ? out[at(chunk, i)] : load_of_rank(slot + at(chunk, i)));
      }
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (at(chunk, i) < vectors) out[at(chunk, i)] = rounded(sums[i]);
    }
  }
};

template <int kVectors>
__global__ void __launch_bounds__(kOneShotThreads, kOneShotBlocks)
    one_shot_kernel(const __grid_constant__ RankExchange exchange, uint4* out,
                    std::int64_t vectors) {
  wait_for_kernels_ahead();
  let_next_start();
  using Exchange = OneShot<kVectors>;
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  const Exchange one{exchange, out, vectors, load_counter(exchange.counter(block))};
  const int chunks = static_cast<int>((vectors + Exchange::kChunk - 1) / Exchange::kChunk);
  if (block < chunks) one.send(block);
  for (int chunk = block; chunk < chunks; chunk += blocks) {
    if (chunk + blocks < chunks) one.send(chunk + blocks);
    one.add_up(chunk);
  }
  __syncthreads();  // all have read the counter
  end_exchange(exchange, one.number, block, blocks, static_cast<int>(threadIdx.x), kOneShotThreads);
}

}  // namespace fusegate::kernels::ranks
