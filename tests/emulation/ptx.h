// Replaces ptx.cuh: its functions on an emulated cluster.
#pragma once

#include <cuda.h>
#include <vector_types.h>

#include <cstdint>

#include "tests/emulation/cluster.h"
#include "tests/emulation/threads.h"

namespace fusegate::kernels::emulation {

inline const BoxMap& boxes(const CUtensorMap& map) { return reinterpret_cast<const BoxMap&>(map); }

}  // namespace fusegate::kernels::emulation

namespace fusegate::kernels::sm90 {

using emulation::Cluster;

inline void barrier_init(std::uint32_t barrier, int arrivals) {
  Cluster::here().init_barrier(barrier, arrivals);
}
inline void fence_barrier_init() { Cluster::here().fence_barriers(); }
inline void barrier_expect_bytes(std::uint32_t barrier, int bytes) {
  Cluster::here().expect(barrier, bytes);
}
inline void barrier_arrive_at(std::uint32_t barrier, std::uint32_t rank) {
  Cluster::here().arrive(barrier, static_cast<int>(rank));
}
inline void barrier_arrive(std::uint32_t barrier) {
  Cluster::here().arrive(barrier, Cluster::here().rank());
}
inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  Cluster::here().wait(barrier, parity);
}

inline void named_sync(int barrier, int threads) {
  Cluster::here().named_sync(barrier, threads, true);
}
inline void named_arrive(int barrier, int threads) {
  Cluster::here().named_sync(barrier, threads, false);
}

template <int kRegisters>
void give_registers() {}
template <int kRegisters>
void take_registers() {}

inline void prefetch_map(const CUtensorMap&) {}
inline void load_box_multicast(const CUtensorMap& map, std::uint32_t to, std::uint32_t barrier,
                               int column, int row, std::uint16_t blocks) {
  Cluster::here().load(emulation::boxes(map), to, barrier, column, row, blocks);
}
inline void load_box(const CUtensorMap& map, std::uint32_t to, std::uint32_t barrier, int column,
                     int row) {
  Cluster::here().load(emulation::boxes(map), to, barrier, column, row,
                       1U << Cluster::here().rank());
}
inline void load_pair_box(const CUtensorMap& map, std::uint32_t to, std::uint32_t barrier,
                          int column, int group) {
  load_box(map, to, barrier, column, 16 * group);
}
inline void load_pair_box_multicast(const CUtensorMap& map, std::uint32_t to, std::uint32_t barrier,
                                    int column, int group, std::uint16_t blocks) {
  load_box_multicast(map, to, barrier, column, 16 * group, blocks);
}
inline void store_box(const CUtensorMap& map, std::uint32_t from, int column, int row) {
  Cluster::here().store(emulation::boxes(map), from, column, row);
}
inline void store_bytes(void* to, std::uint32_t from, int bytes) {
  const emulation::BoxMap row{static_cast<std::byte*>(to), 1, bytes, bytes, 1, bytes, 0, 1, 0};
  Cluster::here().store(row, from, 0, 0);
}
inline void commit_stores() { Cluster::here().commit_stores(); }
template <int kUnderWay = 0>
inline void wait_stores_read() {
  Cluster::here().wait_stores(kUnderWay);
}
inline void wait_stores() { Cluster::here().wait_stores(); }
inline void fence_async_proxy() { Cluster::here().fence(); }

inline std::uint32_t cluster_rank() { return static_cast<std::uint32_t>(Cluster::here().rank()); }
inline void cluster_arrive_relaxed() { Cluster::here().cluster_arrive(); }
inline void cluster_wait() { Cluster::here().cluster_wait(); }
inline void cluster_sync() {
  cluster_arrive_relaxed();
  cluster_wait();
}
inline void store_to_block(std::uint32_t address, std::uint32_t rank, const float4& value,
                           std::uint32_t barrier) {
  Cluster::here().send(address, static_cast<int>(rank), value, barrier);
}

inline uint4 load_shared(std::uint32_t from) {
  uint4 value{};
  Cluster::here().read(from, &value, sizeof(value));
  return value;
}
inline float4 load_shared_floats(std::uint32_t from) {
  float4 value{};
  Cluster::here().read(from, &value, sizeof(value));
  return value;
}
inline void store_shared(std::uint32_t to, const uint4& value) {
  Cluster::here().write(to, &value, sizeof(value));
}

// Lane l writes row l % 8 of matrix l / 8, of which lanes 4 (l % 8) and on have two elements each.
template <typename... Matrices>
void store_matrices(std::uint32_t row, Matrices... matrices) {
  const auto all = Cluster::here().exchange(std::array{matrices...});
  const auto lane = static_cast<std::size_t>(Cluster::here().thread() % emulation::kWarp);
  if (lane >= 8 * sizeof...(matrices)) return;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = all[lane % 8 * 4 + i][lane / 8];
  Cluster::here().write(row, words.data(), sizeof(words));
}

// Lane l writes column l % 8 of matrix l / 8.
template <typename... Matrices>
void store_transposed(std::uint32_t column, Matrices... matrices) {
  const auto all = Cluster::here().exchange(std::array{matrices...});
  const auto lane = static_cast<std::size_t>(Cluster::here().thread() % emulation::kWarp);
  if (lane >= 8 * sizeof...(matrices)) return;
  std::array<std::uint16_t, 8> elements{};
  for (std::size_t row = 0; row < 8; ++row) {
    const std::uint32_t word = all[4 * row + lane % 8 / 2][lane / 8];
    elements[row] = static_cast<std::uint16_t>(word >> 16 * (lane % 2));
  }
  Cluster::here().write(column, elements.data(), sizeof(elements));
}

inline float2 load_constants(const float* from, bool inside) {
  return inside ? float2{from[0], from[1]} : float2{};
}

inline void store_global(void* to, const uint4& value) {
  Cluster::here().store(to, &value, sizeof(value));
}

inline void add_sums(float* sums, const float4* from) {
  sums[0] += from->x, sums[1] += from->y, sums[2] += from->z, sums[3] += from->w;
}
inline void store_sums(const float* sums, float4* to) {
  Cluster::here().store(to, sums, sizeof(*to));
}
inline void set_flag(std::uint32_t* flag) {
  if (*flag != 0) throw emulation::Fault("a flag is set before it was taken");
  *flag = 1;
}
inline void take_flag(std::uint32_t* flag) {
  if (*flag == 0) throw emulation::Fault("a flag is taken that no cluster behind this one has set");
  *flag = 0;
}

inline void wait_for_previous_kernel() { Cluster::here().wait_for_previous_kernel(); }
inline void let_next_kernel_start() {}

}  // namespace fusegate::kernels::sm90
