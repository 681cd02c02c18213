#include "baselines/between_cards.h"

#include <cmath>

namespace fusegate {
namespace {

constexpr double squared(double value) { return value * value; }

// TODO-MEASURE
constexpr double kCards = 2;
constexpr BetweenCards kComputeBound{{squared(0.0073), kCards - 1}, {squared(0.0022), kCards - 1}};
constexpr BetweenCards kMemoryBound{{squared(0.0015), kCards - 1}, {squared(0.0011), kCards - 1}};

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
