// Hopper's instructions for which CUDA C++ has no functions: mbarriers, the tensor memory
// accelerator (TMA), clusters, and programmatic dependent launch. Each is one PTX instruction,
// described in the PTX ISA's section of its name. Shared-memory addresses are 32 bits wide, in the
// shared window.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace fusegate::kernels::sm90 {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- mbarrier: a phase ends when all arrivals and all expected bytes are in.

__device__ inline void barrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

// Makes initialised barriers known to the cluster and to the TMA.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_expect_bytes(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Arrives at the barrier at the same address in the shared memory of the cluster's block `rank`.
__device__ inline void barrier_arrive_at(std::uint32_t barrier, std::uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ inline void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Returns when the phase of that parity has ended.
__device__ inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- named barriers of a block, 1 to 15; 0 is __syncthreads.

__device__ inline void named_sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ inline void named_arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// ---- registers: a warpgroup gives some of its threads' away, or takes what others gave.

template <int kRegisters>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// ---- TMA: boxes of a tensor, coordinates counted in elements, the contiguous one first. What lies
// outside of the tensor is read as zero and never written.

__device__ inline void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

__device__ inline void load_box(const CUtensorMap& map, std::uint32_t to, std::uint32_t barrier,
                                int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Of two matrices in turn, eight rows of one and the same eight of the other (make_pair_map), from
// the rows 8 x group on.
__device__ inline void load_pair_box(const CUtensorMap& map, std::uint32_t to,
                                     std::uint32_t barrier, int column, int group) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(column), "r"(0), "r"(group), "r"(barrier)
      : "memory");
}

__device__ inline void load_pair_box_multicast(const CUtensorMap& map, std::uint32_t to,
                                               std::uint32_t barrier, int column, int group,
                                               std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(column), "r"(0), "r"(group), "r"(barrier), "h"(blocks)
      : "memory");
}

// load_box() into every block of the cluster whose bit is set, at the same address, signalling each
// one's own barrier; and above, load_pair_box().
__device__ inline void load_box_multicast(const CUtensorMap& map, std::uint32_t to,
                                          std::uint32_t barrier, int column, int row,
                                          std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
      : "memory");
}

__device__ inline void store_box(const CUtensorMap& map, std::uint32_t from, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(column), "r"(row), "r"(from)
      : "memory");
}

// Bytes in a row, a multiple of 16, as are both addresses.
__device__ inline void store_bytes(void* to, std::uint32_t from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}

__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until the shared memory of all but so many of this thread's last stores may be written again.
template <int kUnderWay = 0>
__device__ inline void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kUnderWay) : "memory");
}

__device__ inline void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// Ordinary stores to shared memory before it are seen by the TMA after it.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- clusters

__device__ inline std::uint32_t cluster_rank() {
  std::uint32_t rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of the cluster, every warp as one. Makes only fenced barriers visible to the others:
// a release would be a fence of the whole GPU (MEMBAR.ALL.GPU) by every thread, with which 128 x
// 768 x 3072 takes 8.14 us instead of 7.86 (docs/evidence/fused-products.md).
__device__ inline void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The same, and makes earlier writes visible to all.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  cluster_wait();
}

// To the same address in the shared memory of the cluster's block `rank`, asynchronously: the 16
// bytes count at that block's barrier.
__device__ inline void store_to_block(std::uint32_t address, std::uint32_t rank,
                                      const float4& value, std::uint32_t barrier) {
  asm volatile(
      "{\n"
      ".reg .b32 remote, there;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mapa.shared::cluster.u32 there, %2, %1;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [remote], {%3, %4, %5, %6}, "
      "[there];\n"
      "}" ::"r"(address),
      "r"(rank), "r"(barrier), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
      : "memory");
}

// ---- shared memory: 16 bytes; and four 8x8 matrices of 16-bit elements from registers, each lane
// giving the address of one row.

__device__ inline uint4 load_shared(std::uint32_t from) {
  uint4 value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(from)
               : "memory");
  return value;
}

__device__ inline float4 load_shared_floats(std::uint32_t from) {
  const uint4 bits = load_shared(from);
  return {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z),
          __uint_as_float(bits.w)};
}

__device__ inline void store_shared(std::uint32_t to, const uint4& value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

__device__ inline void store_matrices(std::uint32_t row, std::uint32_t m0, std::uint32_t m1,
                                      std::uint32_t m2, std::uint32_t m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(m0), "r"(m1), "r"(m2), "r"(m3)
               : "memory");
}

// The same with two matrices, whose addresses lanes 0 to 15 give.
__device__ inline void store_matrices(std::uint32_t row, std::uint32_t m0, std::uint32_t m1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(m0),
               "r"(m1)
               : "memory");
}

// Transposed: each lane gives the address of a column, of four matrices or (lanes 0 to 7) of one.
__device__ inline void store_transposed(std::uint32_t column, std::uint32_t m0, std::uint32_t m1,
                                        std::uint32_t m2, std::uint32_t m3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(column),
      "r"(m0), "r"(m1), "r"(m2), "r"(m3)
      : "memory");
}
__device__ inline void store_transposed(std::uint32_t column, std::uint32_t m0) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(column), "r"(m0)
               : "memory");
}

// Two numbers that no kernel writes, or zeros where they are not inside.
__device__ inline float2 load_constants(const float* from, bool inside) {
  float2 value{};
  asm volatile(
      "{\n"
      ".reg .pred inside;\n"
      "setp.ne.b32 inside, %3, 0;\n"
      "@inside ld.global.nc.v2.f32 {%0, %1}, [%2];\n"
      "}"
      : "+f"(value.x), "+f"(value.y)
      : "l"(from), "r"(static_cast<int>(inside)));
  return value;
}

__device__ inline void store_global(void* to, const uint4& value) {
  *static_cast<uint4*>(to) = value;
}

// ---- what another block of the grid has written

// Adds four to a thread's sums. From the L2, since an SM's L1 does not see what others write.
__device__ inline void add_sums(float* sums, const float4* from) {
  asm volatile(
      "{\n"
      ".reg .f32 a, b, c, d;\n"
      "ld.global.cg.v4.f32 {a, b, c, d}, [%4];\n"
      "add.f32 %0, %0, a;\n"
      "add.f32 %1, %1, b;\n"
      "add.f32 %2, %2, c;\n"
      "add.f32 %3, %3, d;\n"
      "}"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "l"(from)
      : "memory");
}
__device__ inline void store_sums(const float* sums, float4* to) {
  *to = {sums[0], sums[1], sums[2], sums[3]};
}

// What this thread has written, and what others had written before they met it at a barrier, is
// seen by who takes the flag, and by those that meet it at a barrier afterwards.
__device__ inline void set_flag(std::uint32_t* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
// Waits until the flag is set, and clears it for the next launch.
__device__ inline void take_flag(std::uint32_t* flag) {
  std::uint32_t value = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  } while (value == 0);
  asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(flag) : "memory");
}

// ---- programmatic dependent launch

// Until the kernels before this one have ended and their writes are seen. Nothing they write may be
// read, and nothing they read may be written, before it.
__device__ inline void wait_for_previous_kernel() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// The next kernel's blocks may start.
__device__ inline void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace fusegate::kernels::sm90
