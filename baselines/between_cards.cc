#include "baselines/between_cards.h"

#include <cmath>

namespace fusegate {
namespace {

constexpr double squared(double value) { return value * value; }

// Measured on NVIDIA H200s (driver 580.159.04), over the benchmarks of `pr`: two cards in one
// session, 0.73 % in time and 0.22 % in cycles where compute-bound, 0.15 and 0.11 % where
// memory-bound; four cards of one host in another (docs/calibration.md), 0.40 and 0.22 %, 0.12 and
// 0.16 %. Pooled by their degrees of freedom, one and three: what benchmarks share of a card makes
// them no more. Time at equal clock differs by less than either: 0.17 and 0.06 % between the four.
constexpr double kDegreesOfFreedom = 4;
constexpr double kDegreesOfFreedomAtEqualClock = 3;
constexpr BetweenCards kComputeBound{{squared(0.0050), kDegreesOfFreedom},
                                     {squared(0.0022), kDegreesOfFreedom},
                                     {squared(0.0017), kDegreesOfFreedomAtEqualClock}};
constexpr BetweenCards kMemoryBound{{squared(0.0013), kDegreesOfFreedom},
                                    {squared(0.0015), kDegreesOfFreedom},
                                    {squared(0.0006), kDegreesOfFreedomAtEqualClock}};

// FLOPs a byte. An H200 does about 700e12 over 4.3e12 bytes a second, 160 a byte, and reaches either
// limit only well beside that.
constexpr double kComputeBoundIntensity = 100;

bool is_memory_bound(const BenchmarkSeries& series) {
  const auto flops = series.counters.find("flops");
  const auto bytes = series.counters.find("min_bytes");
  if (flops == series.counters.end() || bytes == series.counters.end()) return false;
  return flops->second < kComputeBoundIntensity * bytes->second;
}

}  // namespace

BetweenCards between_cards(const BenchmarkSeries& series) {
  return is_memory_bound(series) ? kMemoryBound : kComputeBound;
}

void add_variance(const VarianceEstimate& of_one_card, Contrast& contrast) {
  if (!(contrast.degrees_of_freedom > 0)) return;
  const double noise = squared(contrast.standard_error);
  const double cards = 2 * of_one_card.variance;
  const double total = noise + cards;
  contrast.standard_error = std::sqrt(total);
  contrast.degrees_of_freedom =
      squared(total) / (squared(noise) / contrast.degrees_of_freedom +
                        squared(cards) / of_one_card.degrees_of_freedom);
}

}  // namespace fusegate
