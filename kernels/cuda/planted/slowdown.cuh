// Slows a kernel by a share, to see the gate fail: only in builds with
// -DFUSEGATE_SLOW_KERNEL=gelu_mul -DFUSEGATE_SLOW_SHARE=0.01.
//
// Doing a share of the work twice slows a grid of many waves by that share, but a grid of one wave
// by up to 53 % for 5 % (on an H200), since its doubled blocks end last. So threads take useless
// steps between reading and writing, by one of two methods. In the last wave, one warp of each
// block takes them in a loop, which delays the grid's end by one loop. But a kernel of 2 to 5 us
// took 2 to 4 % longer for merely containing the loop; there every thread takes a number of steps
// known to the compiler. Method and number are measured for each kernel and size
// (SlowingSearch) before its first benchmark.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/launch_timing.h"

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

enum class SlowingWay { kEveryThread, kLastWave };

// By default none.
struct Slowing {
  SlowingWay way = SlowingWay::kEveryThread;
  unsigned steps = 0;
  double share = 0;  // measured: time over that of the kernel as it is, minus one

  std::string text() const {
    return std::to_string(steps) + " steps in " +
           (way == SlowingWay::kLastWave ? "one warp of each block of the last wave"
                                         : "every thread");
  }
};

// The resolution of a SlowingSearch's rounds. On four H200s, five processes per side measured
// kernels of 36 and 124 us as slowed by 0.98 and 0.99 % where 1 % was wanted.
inline constexpr double kSharePrecision = 0.001;

// Times the kernel slowed in several ways, 30 ms each, and takes the nearest. Errors of CUDA are
// thrown as DeviceError.
class SlowingSearch {
 public:
  using Enqueue = std::function<void(const Slowing&)>;

  // rungs: the numbers of steps that every thread can take, ascending.
  SlowingSearch(Enqueue enqueue, std::vector<unsigned> rungs, double wanted, cudaStream_t stream)
      : enqueue_(std::move(enqueue)),
        rungs_(std::move(rungs)),
        wanted_(wanted),
        stream_(stream),
        launches_(launches_that_take(
            kReplayMs, [this] { enqueue_(Slowing{}); }, stream)),
        as_it_is_([this] { enqueue_(Slowing{}); }, launches_, stream) {}

  // The last wave first: it adds the same time whatever bounds the grid, while steps of every
  // thread may hide behind memory.
  Slowing nearest() {
    Slowing best = in_last_wave();
    if (distance(best) > kSharePrecision) best = nearer(best, in_every_thread());
    // Measured again, since the nearest was selected by noise too.
    return measured(best.way, best.steps);
  }

 private:
  static constexpr double kReplayMs = 1;

  // The median, alternating with the unslowed kernel, so that clock drift affects both.
  Slowing measured(SlowingWay way, unsigned steps) const {
    constexpr int kRounds = 15;
    Slowing result{.way = way, .steps = steps};
    const TimedLaunches slowed([&] { enqueue_(result); }, launches_, stream_);
    std::vector<double> ratios;
    for (int round = 0; round < kRounds; ++round) {
      const double unslowed_ms = as_it_is_.ms();
      ratios.push_back(slowed.ms() / unslowed_ms);
    }
    std::ranges::nth_element(ratios, ratios.begin() + kRounds / 2);
    result.share = ratios[kRounds / 2] - 1;
    return result;
  }

  double distance(const Slowing& slowing) const { return std::abs(slowing.share - wanted_); }
  Slowing nearer(const Slowing& a, const Slowing& b) const {
    return distance(b) < distance(a) ? b : a;
  }

  // The first steps cost nothing where other warps end later; later ones cost the same each. So
  // interpolates between two numbers of steps around the share.
  Slowing in_last_wave() const {
    Slowing below = measured(SlowingWay::kLastWave, 1);
    if (below.share >= wanted_) return below;
    Slowing above = enough_in_last_wave();
    Slowing best = nearer(below, above);
    constexpr int kRefinements = 4;
    for (int i = 0; i < kRefinements && above.steps - below.steps > 1; ++i) {
      const double along = (wanted_ - below.share) / (above.share - below.share);
      const auto steps =
          below.steps + static_cast<unsigned>(std::lround(along * (above.steps - below.steps)));
      const Slowing between =
          measured(SlowingWay::kLastWave, std::clamp(steps, below.steps + 1, above.steps - 1));
      best = nearer(best, between);
      (between.share < wanted_ ? below : above) = between;
      if (distance(best) < kSharePrecision / 4) break;
    }
    return best;
  }

  // A number of steps that costs the share or more.
  Slowing enough_in_last_wave() const {
    // Four cycles at an H200's 1.98 GHz: the least that a step takes after another.
    constexpr double kStepMs = 2e-6;
    const auto guess = static_cast<unsigned>(wanted_ * as_it_is_.ms() / launches_ / kStepMs);
    for (unsigned steps = std::max(2u, guess); steps < (1u << 30); steps *= 2) {
      const Slowing slowing = measured(SlowingWay::kLastWave, steps);
      if (slowing.share >= wanted_) return slowing;
    }
    throw DeviceError(
        "cannot slow this kernel by the planted share: choose another FUSEGATE_SLOW_KERNEL");
  }

  // Bisects the rungs, each of which costs more than the one before.
  Slowing in_every_thread() const {
    Slowing best{.share = 0};
    auto first = rungs_.begin(), last = rungs_.end();
    while (first != last) {
      const auto middle = first + (last - first) / 2;
      const Slowing slowing = measured(SlowingWay::kEveryThread, *middle);
      best = nearer(best, slowing);
      if (slowing.share < wanted_) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return best;
  }

  Enqueue enqueue_;
  std::vector<unsigned> rungs_;
  double wanted_;
  cudaStream_t stream_;
  int launches_;
  TimedLaunches as_it_is_;
};

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
