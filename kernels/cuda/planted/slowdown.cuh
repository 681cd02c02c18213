// Slows a kernel by a share, to see the gate fail: only in builds with
// -DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.01.
//
// Doing a share of the work twice slows a grid of many waves by that share, but a grid of one wave
// by up to 53 % for 5 % (on an H200), since its doubled blocks end last. So threads take useless
// steps between reading and writing, by one of two methods. In the last wave, one warp of each
// block takes them in a loop, which delays the grid's end by one loop. But a kernel of 2 to 5 us
// took 2 to 4 % longer for merely containing the loop; there every thread takes a number of steps
// known to the compiler. Method and number are measured for each kernel and size
// (slowdown_search.h) before its first benchmark.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/launch_timing.h"
#include "kernels/cuda/planted/slowdown_search.h"

namespace fusegate::kernels::planted {

static_assert(FUSEGATE_SLOW_SHARE > 0 && FUSEGATE_SLOW_SHARE < 1, "a share of the kernel's time");

__device__ inline float one_step(float chain) { return __fmaf_rn(chain, 0.9999f, 1e-4f); }

// The word. The compiler cannot know that no arithmetic produces a NaN of that payload, so it does
// not remove the chain.
__device__ inline unsigned after_chain(float chain, unsigned word) {
  constexpr unsigned kPayloadOfNoArithmetic = 0x7fc12345;
  return __float_as_uint(chain) == kPayloadOfNoArithmetic ? 0 : word;
}

// Delays a kernel, which gets it by value. word: the last to be computed.
template <unsigned kSteps>
struct EveryThreadSteps {
  // An empty class has a byte that differs from launch to launch, which launch_kernel() refuses.
  unsigned steps = kSteps;

  __device__ unsigned held_up(unsigned word) const {
    if constexpr (kSteps == 0) {
      return word;
    } else {
      float chain = __uint_as_float(word);
#pragma unroll
      for (unsigned step = 0; step < kSteps; ++step) chain = one_step(chain);
      return after_chain(chain, word);
    }
  }
};

struct LastWaveSteps {
  unsigned first_block = 0;
  unsigned steps = 0;

  __device__ unsigned held_up(unsigned word) const {
    constexpr unsigned kWarp = 32;
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    if (block < first_block || threadIdx.x >= kWarp || threadIdx.y > 0) return word;
    float chain = __uint_as_float(word);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) chain = one_step(chain);
    return after_chain(chain, word);
  }
};

// The compiled numbers of EveryThreadSteps. From 4 on neighbours differ by at most a quarter, so
// the nearer of two is off by at most an eighth.
using Ladder = std::integer_sequence<unsigned, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24,
                                     28, 32, 40, 48, 56, 64, 80, 96, 112, 128>;

template <unsigned... kRungs>
std::vector<unsigned> rungs(std::integer_sequence<unsigned, kRungs...>) {
  return {kRungs...};
}

// The delayed kernel of that name. Body: what its threads do (pointwise.cu).
template <typename Body, typename Hold, typename... Args>
__global__ void __launch_bounds__(Body::kThreads) pointwise_kernel(Hold hold, Args... args) {
  Body::run(hold, args...);
}

// enqueue(hold): enqueues the kernel with an EveryThreadSteps or a LastWaveSteps.
template <typename Enqueue, unsigned... kRungs>
void enqueue_slowed(const Enqueue& enqueue, const Slowing& slowing, unsigned first_of_last_wave,
                    std::integer_sequence<unsigned, kRungs...>) {
  if (slowing.way == SlowingWay::kLastWave) {
    return enqueue(LastWaveSteps{first_of_last_wave, slowing.steps});
  }
  ((kRungs == slowing.steps ? enqueue(EveryThreadSteps<kRungs>{}) : void()), ...);
}

// Blocks that the GPU holds at once.
inline unsigned resident_blocks(const void* kernel, int threads) {
  int device = 0, sms = 0, blocks_an_sm = 0;
  FUSEGATE_CUDA(cudaGetDevice(&device));
  FUSEGATE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FUSEGATE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_an_sm, kernel, threads, 0));
  return static_cast<unsigned>(sms * blocks_an_sm);
}

// In two steps, since # does not expand its argument.
#define FUSEGATE_QUOTE(text) #text
#define FUSEGATE_TEXT(macro) FUSEGATE_QUOTE(macro)

// Searches at the first launch of this kernel and size; throws DeviceError where that is captured.
template <typename Body, typename... Args>
void launch_slowed(dim3 grid, dim3 threads, const Tensor& out, cudaStream_t stream, Args... args) {
  static std::map<std::int64_t, Slowing> known;
  const auto enqueue = [&]<typename Hold>(Hold hold) {
    const auto kernel = pointwise_kernel<Body, Hold, Args...>;
    static const bool early = can_launch_early(reinterpret_cast<const void*>(kernel));
    launch_kernel(kernel, {.blocks = grid, .threads = threads, .early = early}, stream, hold,
                  args...);
  };
  const unsigned blocks = grid.x * grid.y;
  static const unsigned resident =
      resident_blocks(reinterpret_cast<const void*>(pointwise_kernel<Body, LastWaveSteps, Args...>),
                      Body::kThreads);
  const auto enqueue_as = [&](const Slowing& slowing) {
    enqueue_slowed(enqueue, slowing, blocks > resident ? blocks - resident : 0, Ladder{});
  };
  auto found = known.find(out.count());
  if (found == known.end()) {
    refuse_capture(stream, "a slowed kernel");
    const RestoredTensor restored(out, stream);
    SlowingSearch search(enqueue_as, rungs(Ladder{}), FUSEGATE_SLOW_SHARE, stream);
    found = known.emplace(out.count(), search.nearest()).first;
    std::fprintf(stderr, "slowed %s of %s, %lld elements: wanted %+.2f %%, measured %+.2f %%; %s\n",
                 FUSEGATE_TEXT(FUSEGATE_SLOW_OP), std::string(dtype_name(out.dtype)).c_str(),
                 static_cast<long long>(out.count()), FUSEGATE_SLOW_SHARE * 100,
                 found->second.share * 100, found->second.text().c_str());
  }
  enqueue_as(found->second);
}

}  // namespace fusegate::kernels::planted
