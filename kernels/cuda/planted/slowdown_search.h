// Finds how to slow a kernel by a share of its time (slowdown.cuh): times it slowed in several
// ways, 30 ms each, and takes the nearest. Errors of CUDA are thrown as DeviceError.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/launch_timing.h"

namespace fusegate::kernels {

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

}  // namespace fusegate::kernels
