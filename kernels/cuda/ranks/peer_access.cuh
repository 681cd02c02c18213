// What kernels need to exchange data with other ranks (rank_exchange.h): flags and data that other
// GPUs write. Each is one PTX instruction, described in the PTX ISA's section of its name; those of
// sm_90 do nothing on older ones, whose kernels start when the one ahead has ended.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/ranks/rank_exchange.h"

namespace fusegate::kernels::ranks {

// What this thread has written, and what others had written before they met it at a barrier, is
// seen by who sees the flag.
__device__ inline void set_flag(std::uint32_t* flag, std::uint32_t exchange) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(exchange) : "memory");
}

// Until the flag is of that exchange. What was written before it was set is seen by this thread,
// and by those that meet it at a barrier afterwards.
__device__ inline void wait_for_flag(const std::uint32_t* flag, std::uint32_t exchange) {
  std::uint32_t number = 0;
  do {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(number) : "l"(flag) : "memory");
  } while (!has_reached(number, exchange));
}

__device__ inline std::uint32_t load_counter(const std::uint32_t* counter) {
  std::uint32_t number = 0;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(counter) : "memory");
  return number;
}

__device__ inline void store_to_rank(void* to, const uint4& value) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

// What another GPU may have written: never from this SM's L1, which does not see that.
__device__ inline uint4 load_of_rank(const void* from) {
  uint4 value;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

// Data and its flag in one store: each half of a packet is four bytes of data below the exchange's
// number, and is read and written whole.
__device__ inline void store_packet(void* to, const uint2& data, std::uint32_t exchange) {
  const std::uint64_t flag = std::uint64_t{exchange} << 32;
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(flag | data.x),
               "l"(flag | data.y)
               : "memory");
}

// Until the packet is of that exchange.
__device__ inline uint2 wait_for_packet(const void* from, std::uint32_t exchange) {
  std::uint64_t first = 0, second = 0;
  do {
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(from)
                 : "memory");
  } while (first >> 32 != exchange || second >> 32 != exchange);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
}

// As sm90/ptx.cuh has them.
__device__ inline void wait_for_kernels_ahead() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Before the TMA reads what a flag has let this thread see.
__device__ inline void fence_loads_by_tma() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}

// By so many threads of the block, when none of its threads needs the counter any more.
__device__ inline void end_exchange(const RankExchange& exchange, std::uint32_t number, int block,
                                    int blocks, int thread = 0, int threads = 1) {
  for (int i = block + thread * blocks; i < kCounters; i += threads * blocks) {
    *exchange.counter(i) = number + 1;
  }
}

}  // namespace fusegate::kernels::ranks
