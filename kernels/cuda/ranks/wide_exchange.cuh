// wide_gemm (gemm/sm90/wide_gemm.cuh) whose tiles are summands: out = sum over ranks of x w^T.
//
// Consumers multiply, and hand their tiles over in shared memory. Three more warps, the helpers,
// do the rest while the tensor cores have the next tile:
//
//   keep      the TMA stores the tile in this rank's own slot, as it lies in shared memory
//   send      from there to the slots of the ranks that add it up, then a flag
//   add up    the tile before, of all ranks, which by now have sent it, in their order and in fp32
//   send on   its sum to all others, then a flag, where they need it
//   take      the sum of the tile before that, which another rank has sent on
//
// Sent from shared memory, a wave of tiles would keep the tensor cores waiting for the link.
//
// Who adds up a tile. Where rows are split, the rank whose rows it has: a block's first tiles are
// other ranks', and its last its own (RankedRaster). Else two ranks both do. More than two take
// turns and send sums on: of four, a link carries 1.5 times the bytes of out then, not three times.
//
// A block's last tile is sent and added up by consumers too.
//
// Blocks wait for other ranks' blocks: all are at work at one time, and ranks have as many
// clusters, so that they come to the same tiles in the same order. While a block has its n-th tile
// it waits for others to have sent their (n - 1)-th, and then for their sum of the (n - 2)-th. Both
// come from blocks that have come to their n-th tile, or wait as this one does at a tile before; so
// some rank can always go on. Each rank adds up a tile at least, hence waits for all others
// (rank_exchange.h).
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/sm90/wide_gemm.cuh"
#include "kernels/cuda/planted/own_time.cuh"
#include "kernels/cuda/ranks/bf16_sums.cuh"
#include "kernels/cuda/ranks/peer_access.cuh"
#include "kernels/cuda/ranks/ranked_raster.h"

namespace fusegate::kernels::sm90 {

struct ExchangeMaps {
  CUtensorMap x, w;

  __device__ void prefetch() const {
    prefetch_map(x);
    prefetch_map(w);
  }
};

inline constexpr int kHelpers = 96, kFirstHelper = 32;  // threads
inline constexpr int kAdders = kHelpers + kConsumers * kWarpgroup;
// Named barriers: of a consumer and the warp that stores its panels, the next number being the
// second consumer's; of the helpers; of all but the producer's warp; and of the consumers.
inline constexpr int kPanelFull = 1, kPanelFree = 3, kPanelThreads = kWarpgroup + 32;
inline constexpr int kHelpersBarrier = 5, kAddersBarrier = 6, kConsumersBarrier = 7;

// A block's tiles in the memory of all ranks. A tile is given by its number in the raster's order.
template <typename Gemm>
struct TileExchange {
  const RankExchange& ranks;
  const WideWork<RankedRaster>& work;
  const OutputRows& out;     // this rank's rows of it
  std::uint32_t number = 0;  // of the exchange

  using Panel = typename Gemm::Panel;
  static constexpr int kPanels = kConsumers * Gemm::kPanels;  // first those of the first consumer
  static constexpr std::int64_t kBytes = kPanels * Panel::kBytes;  // of a tile
  static constexpr int kChunksOfRow = Panel::kColumns / 8;

  __device__ bool are_split() const { return work.raster.parts > 1; }
  __device__ bool sends_sums_on() const { return !are_split() && ranks.count > 2; }
  // Without rows of their own, ranks take turns at a block's tiles and at blocks.
  __device__ int owner(int tile) const {
    if (are_split()) return work.raster.owner(work.raster.at(tile));
    return (tile / work.step + tile % work.step) % ranks.count;
  }
  __device__ bool is_added_up_by(int rank, int tile) const {
    return (!are_split() && !sends_sums_on()) || owner(tile) == rank;
  }

  // This rank's summand, in its own slot, where others' tiles lie too until they are sent.
  __device__ std::byte* own(int tile) const {
    return ranks.slot(ranks.rank, ranks.rank, number) + index(work.raster.at(tile)) * kBytes;
  }

  // By so many threads, of which this is one.
  __device__ void send(int tile, int thread, int threads) const {
    const std::byte* const from = own(tile);
    const std::int64_t at = sent_at(tile);
    for (int to = 0; to < ranks.count; ++to) {
      if (to == ranks.rank || !is_added_up_by(to, tile)) continue;
      copy(from, ranks.buffers[to] + at, thread, threads);
    }
  }
  // When all have sent it.
  __device__ void set_flags(int tile) const {
    for (int to = 0; to < ranks.count; ++to) {
      if (to != ranks.rank && is_added_up_by(to, tile)) set_flag(to, tile);
    }
  }

  // meet(): a barrier of these threads.
  template <typename Meet>
  __device__ void add_up(int tile, int thread, int threads, const Meet& meet) const {
    if (!is_added_up_by(ranks.rank, tile)) return;
    for (int of = 0; of < ranks.count; ++of) {
      if (of != ranks.rank) wait_for(of, tile);
    }
    if (ranks.count == 2) {
      add_up_two(tile, thread, threads);
      return;
    }
    add_up_all(tile, thread, threads);
    if (!sends_sums_on()) return;
    meet();
    if (thread != 0) return;
    for (int to = 0; to < ranks.count; ++to) {
      if (to != ranks.rank) set_flag(to, tile);
    }
  }

  // What another rank has added up and sent on.
  __device__ void take(int tile, int thread, int threads) const {
    if (!sends_sums_on() || is_added_up_by(ranks.rank, tile)) return;
    constexpr int kTogether = 4;
    const int of = owner(tile);
    wait_for(of, tile);
    const std::byte* const sum = received(of, tile);
    store_sums<kTogether>(tile, thread, threads, [&](const auto& offsets, auto& sums) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) sums[i] = ranks::load_of_rank(sum + offsets[i]);
    });
  }

 private:
  // Of the block's tile at a cluster's.
  __device__ int index(const TilePosition& at) const {
    return (at.row * work.raster.part.col_tiles + at.col) * Gemm::kCluster + work.rank;
  }
  // Among the tiles of the rank that adds it up.
  __device__ int index_within(int tile) const {
    return index(work.raster.within(work.raster.at(tile)));
  }
  // Where in another rank's buffer this one writes its summand of a tile, or the sum.
  __device__ std::int64_t sent_at(int tile) const {
    return ranks.slot(ranks.rank, ranks.rank, number) - ranks.buffers[ranks.rank] +
           index_within(tile) * kBytes;
  }
  __device__ const std::byte* received(int of, int tile) const {
    return ranks.slot(ranks.rank, of, number) + index_within(tile) * kBytes;
  }
  __device__ const std::byte* summand(int of, int tile) const {
    return of == ranks.rank ? own(tile) : received(of, tile);
  }
  __device__ void set_flag(int to, int tile) const {
    ranks::set_flag(ranks.flag(to, ranks.rank, index_within(tile)), number);
  }
  __device__ void wait_for(int of, int tile) const {
    ranks::wait_for_flag(ranks.flag(ranks.rank, of, index_within(tile)), number);
  }

  // With several loads under way; a thread beyond the end copies the last bytes again.
  static __device__ void copy(const std::byte* from, std::byte* to, int thread, int threads) {
    constexpr int kLoads = 4, kVectors = static_cast<int>(kBytes / 16);
    for (int i = thread; i < kVectors; i += kLoads * threads) {
      const auto at = [&](int j) { return min(i + j * threads, kVectors - 1) * 16; };
      uint4 values[kLoads];
#pragma unroll
      for (int j = 0; j < kLoads; ++j) values[j] = ranks::load_of_rank(from + at(j));
#pragma unroll
      for (int j = 0; j < kLoads; ++j) ranks::store_to_rank(to + at(j), values[j]);
    }
  }

  // A thread has the same eight columns of each panel, and every so many-th row, kTogether at a
  // time: helpers have few registers, and what is spilled waits for its load. sums_of(offsets,
  // sums): of chunks at these offsets in a slot.
  template <int kTogether, typename SumsOf>
  __device__ void store_sums(int tile, int thread, int threads, const SumsOf& sums_of) const {
    const TilePosition at = work.raster.within(work.raster.at(tile));
    const int chunk = thread % kChunksOfRow, step = threads / kChunksOfRow;
    for (int panel = 0; panel < kPanels; ++panel) {
      const int first = work.template row<Gemm>(at) + panel / Gemm::kPanels * Panel::kRows;
      const int rows = min(Panel::kRows, out.rows - first);
      const int column =
          work.template column<Gemm>(at) + panel % Gemm::kPanels * Panel::kColumns + chunk * 8;
      if (column >= out.columns) continue;
      const int own = thread / kChunksOfRow;
      auto* to = static_cast<char*>(out.data) +
                 (static_cast<std::int64_t>(first + own) * out.columns + column) * 2;
      for (int row = own; row < rows; row += kTogether * step) {
        int offsets[kTogether];
        uint4 sums[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          offsets[i] =
              panel * Panel::kBytes + Panel::chunk_at(min(row + i * step, rows - 1), chunk);
        }
        sums_of(offsets, sums);
#pragma unroll
        for (int i = 0; i < kTogether;
             ++i, to += static_cast<std::int64_t>(step) * out.columns * 2) {
          if (row + i * step < rows) store_global(to, sums[i]);
        }
      }
    }
  }

  // With loads of both ranks under way.
  __device__ void add_up_two(int tile, int thread, int threads) const {
    constexpr int kTogether = 2;
    const std::byte* const first = summand(0, tile);
    const std::byte* const second = summand(1, tile);
    store_sums<kTogether>(tile, thread, threads, [&](const auto& offsets, auto& sums) {
      uint4 a[kTogether], b[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        a[i] = ranks::load_of_rank(first + offsets[i]);
        b[i] = ranks::load_of_rank(second + offsets[i]);
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        float both[8] = {};
        ranks::add_to(both, a[i]);
        ranks::add_to(both, b[i]);
        sums[i] = ranks::rounded(both);
      }
    });
  }

  // With loads of four ranks under way; where there are fewer, of the last one again.
  __device__ void add_up_all(int tile, int thread, int threads) const {
    constexpr int kLoads = 4;
    const std::byte* const mine = own(tile);
    const std::byte* const of_first = received(0, tile);
    const std::int64_t at = sent_at(tile);
    const bool sends_on = sends_sums_on();
    store_sums<1>(tile, thread, threads, [&](const auto& offsets, auto& sums) {
      float all[8] = {};
#pragma unroll 1
      for (int first = 0; first < ranks.count; first += kLoads) {
        uint4 parts[kLoads];
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          const int of = min(first + i, ranks.count - 1);
          const std::byte* const from = of == ranks.rank ? mine : of_first + of * ranks.slot_bytes;
          parts[i] = ranks::load_of_rank(from + offsets[0]);
        }
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          if (first + i < ranks.count) ranks::add_to(all, parts[i]);
        }
      }
      sums[0] = ranks::rounded(all);
      if (!sends_on) return;
#pragma unroll 1
      for (int to = 0; to < ranks.count; ++to) {
        if (to != ranks.rank) ranks::store_to_rank(ranks.buffers[to] + at + offsets[0], sums[0]);
      }
    });
  }
};

// By threads that have waited for the kernels ahead, before the block ends the exchange.
template <typename Gemm>
__device__ inline TileExchange<Gemm> exchange_of_block(const RankExchange& ranks,
                                                       const WideWork<RankedRaster>& work,
                                                       const OutputRows& out) {
  return {ranks, work, out, ranks::load_counter(ranks.counter(static_cast<int>(blockIdx.x)))};
}

// What all but the producer's warp do of a block's last tile, which lies in this rank's slot when
// all have come.
template <typename Gemm>
__device__ inline void send_last(const TileExchange<Gemm>& exchange, int tile) {
  const int thread = static_cast<int>(threadIdx.x) - kFirstHelper;
  __syncwarp();
  named_sync(kAddersBarrier, kAdders);
  exchange.send(tile, thread, kAdders);
  named_sync(kAddersBarrier, kAdders);
  if (thread == 0) exchange.set_flags(tile);
}

template <typename Gemm>
struct SendingConsumer {
  const WideConsumer<Gemm, ExchangeMaps, RankedRaster>& gemm;
  const RankExchange& ranks;
  const OutputRows& out;

  using Sums = typename WideConsumer<Gemm, ExchangeMaps, RankedRaster>::TileSums;
  using Panel = typename Gemm::Panel;

  __device__ void run() const {
    const auto& work = gemm.work;
    RingPosition<Gemm::kStages> at;
    int last = work.first;
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      Sums d;
      gemm.multiply(d, at, work.raster.at(tile));
#pragma unroll
      for (int panel = 0; panel < Gemm::kPanels; ++panel) hand_over(d, panel);
      last = tile;
    }
    // Not before, since all registers hold sums.
    const auto exchange = exchange_of_block<Gemm>(ranks, work, out);
    send_last(exchange, last);
    constexpr int kThreads = kConsumers * kWarpgroup;
    const int thread = static_cast<int>(threadIdx.x) - kFirstHelper - kHelpers;
    exchange.add_up(last, thread, kThreads, [] { named_sync(kConsumersBarrier, kThreads); });
    exchange.take(last, thread, kThreads);
    __syncwarp();
  }

 private:
  __device__ void hand_over(const Sums& d, int panel) const {
    const int warp = threadIdx.x % kWarpgroup / 32;
    named_sync(kPanelFree + gemm.number, kPanelThreads);
#pragma unroll
    for (int half = 0; half < kTileRows / 64; ++half) {
      const float* const sums = d[half] + panel * Panel::kColumns / 2;
      write_rows<Panel>(gemm.shared.hand(gemm.number), half * 64 + warp * 16, 0, [&](int i) {
        return float2{sums[i], sums[i + 1]};
      });
    }
    fence_async_proxy();
    named_arrive(kPanelFull + gemm.number, kPanelThreads);
  }
};

template <typename Gemm>
struct Helper {
  const TileShared<Gemm>& shared;
  const TileExchange<Gemm>& exchange;
  int thread = 0;  // of kHelpers

  using Panel = typename Gemm::Panel;

  // The first two warps have a consumer each.
  __device__ int consumer() const { return thread / 32; }
  __device__ bool has_consumer() const { return consumer() < kConsumers; }

  __device__ void run() const {
    const auto& work = exchange.work;
    if (has_consumer()) named_arrive(kPanelFree + consumer(), kPanelThreads);
    for (int tile = work.first; tile < work.raster.count(); tile += work.step) {
      const bool is_last = tile + work.step >= work.raster.count();
      if (has_consumer()) keep(tile, is_last);
      if (is_last) {
        send_last(exchange, tile);
      } else {
        send(tile);
      }
      if (tile != work.first) {
        exchange.add_up(tile - work.step, thread, kHelpers, &meet);
        take_before(tile - work.step);
        if (is_last) exchange.take(tile - work.step, thread, kHelpers);
      }
      __syncwarp();
    }
  }

 private:
  static __device__ void meet() { named_sync(kHelpersBarrier, kHelpers); }

  __device__ void take_before(int tile) const {
    if (tile != exchange.work.first) exchange.take(tile - exchange.work.step, thread, kHelpers);
  }

  // The consumer's panels, one after the other, in this rank's slot.
  __device__ void keep(int tile, bool is_last) const {
    std::byte* const to = exchange.own(tile) + consumer() * Gemm::kPanels * Panel::kBytes;
    for (int panel = 0; panel < Gemm::kPanels; ++panel) {
      named_sync(kPanelFull + consumer(), kPanelThreads);
      if (thread % 32 == 0) {
        store_bytes(to + panel * Panel::kBytes, shared.hand(consumer()), Panel::kBytes);
        commit_stores();
        wait_stores_read();
      }
      __syncwarp();
      // Nobody waits for it after the last.
      if (!is_last || panel < Gemm::kPanels - 1) {
        named_arrive(kPanelFree + consumer(), kPanelThreads);
      }
    }
    if (thread % 32 == 0) wait_stores();
    __syncwarp();
  }

  __device__ void send(int tile) const {
    meet();  // all of the tile is there
    exchange.send(tile, thread, kHelpers);
    meet();
    if (thread == 0) exchange.set_flags(tile);
  }
};

template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    wide_exchange_kernel(const __grid_constant__ ExchangeMaps maps,
                         const __grid_constant__ RankedRaster raster,
                         const __grid_constant__ RankExchange ranks,
                         const __grid_constant__ OutputRows out, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const auto work = wide_work_of_block<Gemm>(raster, k);
  start_block(shared, maps);
  let_next_kernel_start();
  // The producer waits for the kernels ahead when it has begun to load weights.
  const bool is_producers = threadIdx.x < kFirstHelper;
  if (!is_producers) wait_for_previous_kernel();
  const int warpgroup = warpgroup_of_warp();
  if (warpgroup > 0) {
    take_registers<kManyRegisters>();
    const WideConsumer<Gemm, ExchangeMaps, RankedRaster> gemm{
        maps, shared, work, warpgroup - 1, {}};
    SendingConsumer<Gemm>{gemm, ranks, out}.run();
  } else {
    give_registers<kFewRegisters>();
    if (!is_producers) {
      const auto exchange = exchange_of_block<Gemm>(ranks, work, out);
      Helper<Gemm>{shared, exchange, static_cast<int>(threadIdx.x) - kFirstHelper}.run();
    } else if (threadIdx.x == 0) {
      WideProducer<Gemm, ExchangeMaps, RankedRaster>{maps, shared, work}.run();
    }
    __syncwarp();
  }
  // No block may end while another of its cluster writes to it or arrives at its barriers; and all
  // have read the counter.
  cluster_sync();
  if (threadIdx.x == kFirstHelper) {
    const int block = static_cast<int>(blockIdx.x);
    ranks::end_exchange(ranks, ranks::load_counter(ranks.counter(block)), block,
                        static_cast<int>(gridDim.x));
  }
#endif  // other architectures never launch it
}

}  // namespace fusegate::kernels::sm90
