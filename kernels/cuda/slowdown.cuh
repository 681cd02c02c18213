// A kernel that takes a share longer, to see the gate fail: included only by a build that asks for
// it (-DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.01 to CMake).
//
// Doing a share of the work twice slows a grid of many waves by that share, but a grid of one wave
// by up to 53 % for 5 % (on an H200), since there the doubled blocks end last by all of their
// second work. So the threads of the blocks that end the grid wait instead, each for the share of
// the cycles since the grid began on its SM. The later one comes, the longer it waits: the last one
// stays the last, and the grid should take the share longer whatever its size. Measured on an H200
// it takes more: a share of 1 % slowed gelu_mul by 7 to 15 %, of 2 % by 10 to 17 %. Why was not
// established; noting and reading the clock may cost more than the waiting. They wait between
// reading and writing, where nothing of the kernel is left to run meanwhile.
#pragma once

#include "kernels/cuda/element.cuh"

namespace fusegate {

static_assert(FUSEGATE_SLOW_SHARE > 0 && FUSEGATE_SLOW_SHARE < 1, "a share of the kernel's time");

// What of a call's time passes outside of what a thread sees: from the kernel before to its first
// instruction, and its last write. Guessed; it matters where a call takes few microseconds.
inline constexpr unsigned kUnseenCycles = 2000;
// What noting the beginning and looking at the time cost where there is nothing to wait for.
// Guessed.
inline constexpr unsigned kOwnCycles = 40;

// All 64 bits, which nvcc 13.0 reads by CS2R; the lower half alone it reads by S2UR, whose result
// has to be waited for.
__device__ inline unsigned long long sm_cycles() {
  unsigned long long cycles = 0;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ inline unsigned sm_number() {
  unsigned number = 0;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

// Blocks that the GPU holds at once: of kernels that use at most 32 registers, as many as fill an
// SM's 2048 threads on sm_80 and sm_90.
__device__ inline unsigned resident_blocks() {
  unsigned sms = 0;
  asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
  return sms * (2048 / kThreads);
}

// When the grid began on each SM: noted by the blocks of its first wave for those of its last.
inline constexpr unsigned kMostSms = 1024;
__device__ volatile unsigned long long grid_begin_cycles[kMostSms];

// One a thread, made when it begins.
class Slowed {
 public:
  __device__ Slowed() : begin_cycles_(sm_cycles()) {
    const unsigned resident = resident_blocks();
    if (gridDim.x <= resident) return;
    volatile unsigned long long& grid_begin = grid_begin_cycles[sm_number() % kMostSms];
    waits_ = blockIdx.x >= resident && blockIdx.x >= gridDim.x - resident;
    // Loaded now and used at the end, so that the latency hides behind the work's.
    if (waits_) begin_cycles_ = grid_begin;
    if (blockIdx.x < resident && threadIdx.x == 0) grid_begin = begin_cycles_;
  }

  // result: the last value to be computed. The comparison keeps the clock from being read before it
  // is there.
  __device__ void wait_after(float result) const {
    constexpr unsigned kNoNumber = 0xffffffff;
    if (!waits_ || __float_as_uint(result) == kNoNumber) return;
    constexpr auto kShare = static_cast<unsigned>(FUSEGATE_SLOW_SHARE * 4294967296.0);
    const unsigned long long now = sm_cycles();
    const auto elapsed = static_cast<unsigned>(now - begin_cycles_);
    const unsigned long long end = now + __umulhi(elapsed + kUnseenCycles, kShare);
    while (sm_cycles() + kOwnCycles < end) {
    }
  }

 private:
  unsigned long long begin_cycles_;
  bool waits_ = true;
};

}  // namespace fusegate
