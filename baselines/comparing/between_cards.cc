#include "baselines/comparing/between_cards.h"

#include <utility>
#include <vector>

namespace fusegate::baselines {
namespace {

// Of two cards, each of which is so far from its model's mean.
constexpr double of_two(double deviation) { return 2 * deviation * deviation; }

// Measured on NVIDIA H200s (driver 580.159.04), over the benchmarks of `pr`: two cards in one
// session, 0.73 % in time and 0.22 % in cycles where compute-bound, 0.15 and 0.11 % where
// memory-bound; four cards of one host in another, 0.40 and 0.22 %, 0.12 and 0.16 %; four of a
// third, 0.27 and 0.22 %, 0.33 and 0.30 % (docs/h200-pr.md has these four and two more). Pooled by
// their degrees of freedom: what benchmarks share of a card makes them no more.
constexpr double kDegreesOfFreedom = 7;
constexpr VarianceEstimate kComputeBoundTime{of_two(0.0042), kDegreesOfFreedom};
constexpr VarianceEstimate kComputeBoundCycles{of_two(0.0022), kDegreesOfFreedom};
constexpr VarianceEstimate kMemoryBoundTime{of_two(0.0024), kDegreesOfFreedom};
constexpr VarianceEstimate kMemoryBoundCycles{of_two(0.0023), kDegreesOfFreedom};

// FLOPs a byte. An H200 does about 700e12 over 4.3e12 bytes a second, 160 a byte, and reaches
// either limit only well beside that.
constexpr double kComputeBoundIntensity = 100;

// At equal clock cards differ in latencies and in how their L2 serves them, and long kernels feel
// little of either. Of the second four, two each were of one kind: 1.4 % between the kinds in
// kernels of 2 to 5 us, up to 0.9 % in working sets near the L2's size (50 to 100 us), 0.3 % and
// less in the large GEMMs and the large copies. The standard deviations are of what differed the
// most, as the kinds' share of all cards is not known.
constexpr double kEqualClockDegreesOfFreedom = 6;  // the four and the four
constexpr double kShortNs = 20e3, kMiddleNs = 120e3;
constexpr VarianceEstimate kShort{of_two(0.0045), kEqualClockDegreesOfFreedom};
constexpr VarianceEstimate kMiddle{of_two(0.0030), kEqualClockDegreesOfFreedom};
constexpr VarianceEstimate kLong{of_two(0.0010), kEqualClockDegreesOfFreedom};

bool is_memory_bound(const BenchmarkSeries& series) {
  const auto flops = series.counters.find("flops");
  const auto bytes = series.counters.find("min_bytes");
  if (flops == series.counters.end() || bytes == series.counters.end()) return false;
  return flops->second < kComputeBoundIntensity * bytes->second;
}

VarianceEstimate at_equal_clock(const BenchmarkSeries& series) {
  std::vector<double> times_ns;
  for (const InvocationSummary& summary : series.invocations) times_ns.push_back(summary.time_ns);
  const double time_ns = median(std::move(times_ns));
  if (time_ns < kShortNs) return kShort;
  return time_ns < kMiddleNs ? kMiddle : kLong;
}

}  // namespace

BetweenCards between_cards(const BenchmarkSeries& series) {
  if (is_memory_bound(series)) {
    return {kMemoryBoundTime, kMemoryBoundCycles, at_equal_clock(series)};
  }
  return {kComputeBoundTime, kComputeBoundCycles, at_equal_clock(series)};
}

}  // namespace fusegate::baselines
