// A kernel that takes a share longer, to see the gate fail: included only by a build that asks for
// it (-DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.01 to CMake).
//
// Doing a share of the work twice slows a grid of many waves by that share, but a grid of one wave
// by up to 53 % for 5 % (on an H200), since there the doubled blocks end last by all of their
// second work. So one warp of each block that ends the grid takes steps between reading and
// writing that lead nowhere; all blocks take them side by side, and the grid ends later by what one
// of them takes. How many steps make the share is measured for each kernel and size, before the
// first of its launches that counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_error.h"
#include "kernels/device.h"

namespace fusegate {

static_assert(FUSEGATE_SLOW_SHARE > 0 && FUSEGATE_SLOW_SHARE < 1, "a share of the kernel's time");

// Passed to the kernel by value.
class Slowed {
 public:
  // launch: enqueues the kernel with the Slowed that it is given. kernel and packs tell whose
  // number of steps is meant. Measures it where it is not known yet, which cannot be done in a
  // capture: throws DeviceError there.
  template <typename Launch>
  static void launch(Launch launch, const void* kernel, std::int64_t packs, unsigned blocks,
                     cudaStream_t stream);

  // False never comes true, which the compiler cannot know. result: the last value to be computed.
  __device__ bool lets_pass(float result) const {
    if (steps_ == 0 || blockIdx.x < first_block_ || threadIdx.x >= kWarp) return true;
#pragma unroll 1
    for (unsigned step = 0; step < steps_; ++step) result = __fmaf_rn(result, 0.9999f, 1e-4f);
    constexpr unsigned kPayloadOfNoArithmetic = 0x7fc12345;
    return __float_as_uint(result) != kPayloadOfNoArithmetic;
  }

 private:
  static constexpr unsigned kWarp = 32;

  Slowed(unsigned first_block, unsigned steps) : first_block_(first_block), steps_(steps) {}

  unsigned first_block_;
  unsigned steps_;
};

// The first of the blocks that the GPU holds at once when the grid ends.
inline unsigned first_of_last_blocks(const void* kernel, unsigned blocks, int threads) {
  int device = 0, sms = 0, blocks_an_sm = 0;
  FUSEGATE_CUDA(cudaGetDevice(&device));
  FUSEGATE_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FUSEGATE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_an_sm, kernel, threads, 0));
  const auto resident = static_cast<unsigned>(sms * blocks_an_sm);
  return blocks > resident ? blocks - resident : 0;
}

// Milliseconds that the calls take back to back: the least of several attempts.
template <typename Call>
float least_ms(Call call, cudaStream_t stream) {
  constexpr int kAttempts = 15, kCalls = 40;
  cudaEvent_t start{}, end{};
  FUSEGATE_CUDA(cudaEventCreate(&start));
  FUSEGATE_CUDA(cudaEventCreate(&end));
  float least = INFINITY;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    FUSEGATE_CUDA(cudaEventRecord(start, stream));
    for (int i = 0; i < kCalls; ++i) call();
    FUSEGATE_CUDA(cudaEventRecord(end, stream));
    FUSEGATE_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    FUSEGATE_CUDA(cudaEventElapsedTime(&ms, start, end));
    least = std::min(least, ms);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return least;
}

// call: enqueues the kernel with so many steps. Doubles them until they cost a fifth and more, which
// shows above the noise, and takes the share of that.
template <typename Call>
unsigned steps_for_share(Call call, cudaStream_t stream) {
  const float unslowed = least_ms([&] { call(0); }, stream);
  for (unsigned steps = 32; steps < (1u << 30); steps *= 2) {
    const float cost = least_ms([&] { call(steps); }, stream) / unslowed - 1;
    if (cost < 0.2f) continue;
    return std::max(1u, static_cast<unsigned>(std::lround(FUSEGATE_SLOW_SHARE / cost *
                                                          static_cast<double>(steps))));
  }
  throw DeviceError("no number of steps slows this kernel");
}

template <typename Launch>
void Slowed::launch(Launch launch, const void* kernel, std::int64_t packs, unsigned blocks,
                    cudaStream_t stream) {
  static std::map<std::pair<const void*, std::int64_t>, unsigned> known;
  const unsigned first = first_of_last_blocks(kernel, blocks, kThreads);
  const auto found = known.find({kernel, packs});
  if (found != known.end()) return launch(Slowed(first, found->second));
  cudaStreamCaptureStatus capture{};
  FUSEGATE_CUDA(cudaStreamIsCapturing(stream, &capture));
  if (capture != cudaStreamCaptureStatusNone) {
    throw DeviceError("a slowed kernel must run once before it is captured");
  }
  const unsigned steps = steps_for_share(
      [&](unsigned count) { launch(Slowed(first, count)); }, stream);
  known[{kernel, packs}] = steps;
  launch(Slowed(first, steps));
}

}  // namespace fusegate
