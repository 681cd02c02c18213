// An all-reduce in one kernel, in chunks, whose summands are added up in the order of the ranks and
// in fp32, so that all get the same bits. One shot: a rank sends each chunk of its summand to all
// others, which all add it up. Two shots: only to the one that adds it up and sends the sum on, so
// that of four ranks a link carries 1.5 times the bytes, not three times.
//
// A block sends its next chunk before it waits for one, so that data is under way while others are
// added; and takes a sum that another rank sends on after it has added up the chunk behind it. So
// what it waits for comes from blocks that have come as far, and some rank can always go on. Short
// tensors go in packets (packets.cuh).
#pragma once

#include <cstdint>

#include "kernels/cuda/ranks/bf16_sums.cuh"
#include "kernels/cuda/ranks/one_shot_plan.h"
#include "kernels/cuda/ranks/peer_access.cuh"

namespace fusegate::kernels::ranks {

// kVectors: OneShotPlan's.
template <int kVectors, int kShots>
struct ChunkedSum {
  const RankExchange& exchange;
  uint4* out;  // the summand, and then the sum
  std::int64_t vectors;
  std::uint32_t number = 0;  // of the exchange

  static constexpr int kChunk = kOneShotThreads * kVectors;

  __device__ std::int64_t at(int chunk, int i) const {
    return static_cast<std::int64_t>(chunk) * kChunk + i * kOneShotThreads +
           static_cast<int>(threadIdx.x);
  }
  // Ranks take turns at a block's chunks and at blocks.
  __device__ int owner(int chunk) const {
    const int blocks = static_cast<int>(gridDim.x);
    return (chunk / blocks + chunk % blocks) % exchange.count;
  }
  __device__ bool is_added_up_by(int rank, int chunk) const {
    return kShots == 1 || owner(chunk) == rank;
  }
  __device__ uint4* slot(int at_rank, int of) const {
    return reinterpret_cast<uint4*>(exchange.slot(at_rank, of, number));
  }
  // Of this thread, which stands for a rank other than its own.
  __device__ bool is_for_other() const {
    const int thread = static_cast<int>(threadIdx.x);
    return thread < exchange.count && thread != exchange.rank;
  }
  // By all threads, when they have sent: to the rank that this thread stands for, if it is one of
  // those that is_for() names.
  template <typename IsFor>
  __device__ void set_flags(int chunk, const IsFor& is_for) const {
    __syncthreads();
    const int to = static_cast<int>(threadIdx.x);
    if (is_for_other() && is_for(to)) set_flag(exchange.flag(to, exchange.rank, chunk), number);
  }

  __device__ void send(int chunk) const {
    const auto is_for = [&](int to) { return is_added_up_by(to, chunk); };
    for (int to = 0; to < exchange.count; ++to) {
      if (to != exchange.rank && is_for(to)) store_chunk(chunk, to);
    }
    set_flags(chunk, is_for);
  }

  __device__ void add_up(int chunk) const {
    if (!is_added_up_by(exchange.rank, chunk)) return;
    const int from = static_cast<int>(threadIdx.x);
    if (is_for_other()) wait_for_flag(exchange.flag(exchange.rank, from, chunk), number);
    __syncthreads();
    float sums[kVectors][8] = {};
    for (int rank = 0; rank < exchange.count; ++rank) {
      const uint4* const sent = slot(exchange.rank, rank);
#pragma unroll
      for (int i = 0; i < kVectors; ++i) {
        if (at(chunk, i) >= vectors) continue;
        add_to(sums[i],
               rank == exchange.rank ? out[at(chunk, i)] : load_of_rank(sent + at(chunk, i)));
      }
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (at(chunk, i) < vectors) out[at(chunk, i)] = rounded(sums[i]);
    }
    if constexpr (kShots == 2) send_on(chunk);
  }

  // Of two shots: the sum that another rank has sent on.
  __device__ void take(int chunk) const {
    const int of = owner(chunk);
    if (of == exchange.rank) return;
    if (threadIdx.x == 0) wait_for_flag(exchange.flag(exchange.rank, of, chunk), number);
    __syncthreads();
    const uint4* const sum = slot(exchange.rank, of);
    uint4 values[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (at(chunk, i) < vectors) values[i] = load_of_rank(sum + at(chunk, i));
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (at(chunk, i) < vectors) out[at(chunk, i)] = values[i];
    }
  }

 private:
  __device__ void send_on(int chunk) const {
    for (int to = 0; to < exchange.count; ++to) {
      if (to != exchange.rank) store_chunk(chunk, to);
    }
    set_flags(chunk, [](int) { return true; });
  }
  __device__ void store_chunk(int chunk, int to) const {
    uint4* const sent = slot(to, exchange.rank);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (at(chunk, i) < vectors) store_to_rank(sent + at(chunk, i), out[at(chunk, i)]);
    }
  }
};

template <int kVectors, int kShots>
__global__ void __launch_bounds__(kOneShotThreads, kOneShotBlocks)
    chunked_all_reduce_kernel(const __grid_constant__ RankExchange exchange, uint4* out,
                              std::int64_t vectors) {
  wait_for_kernels_ahead();
  let_next_start();
  using Sum = ChunkedSum<kVectors, kShots>;
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  const Sum sum{exchange, out, vectors, load_counter(exchange.counter(block))};
  const int chunks = static_cast<int>((vectors + Sum::kChunk - 1) / Sum::kChunk);
  if (block < chunks) sum.send(block);
  for (int chunk = block; chunk < chunks; chunk += blocks) {
    if (chunk + blocks < chunks) sum.send(chunk + blocks);
    sum.add_up(chunk);
    if constexpr (kShots == 2) {
      if (chunk >= blocks) sum.take(chunk - blocks);
      if (chunk + blocks >= chunks) sum.take(chunk);
    }
  }
  __syncthreads();  // all have read the counter
  end_exchange(exchange, sum.number, block, blocks, static_cast<int>(threadIdx.x), kOneShotThreads);
}

}  // namespace fusegate::kernels::ranks
