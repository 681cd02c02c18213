#include "baselines/calibration/classes.h"

#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kComputeBoundFlopsPerByte = 100;

}  // namespace

double shortest_ns(DurationClass duration) {
  constexpr PerClass<double> kShortestNs{20'000, 3'000, 0};
  return kShortestNs[class_index(duration)];
}

DurationClass duration_class(double time_ns) {
  if (time_ns >= shortest_ns(DurationClass::kLong)) return DurationClass::kLong;
  return time_ns >= shortest_ns(DurationClass::kMedium) ? DurationClass::kMedium
                                                        : DurationClass::kShort;
}

std::string_view duration_class_key(DurationClass duration) {
  constexpr PerClass<std::string_view> kKeys{"from_20_us", "from_3_to_20_us", "below_3_us"};
  return kKeys[class_index(duration)];
}

std::string_view duration_class_title(DurationClass duration) {
  constexpr PerClass<std::string_view> kTitles{">= 20 us", "3 to 20 us", "< 3 us"};
  return kTitles[class_index(duration)];
}

double spread_target(DurationClass duration) {
  constexpr PerClass<double> kTargets{0.0010, 0.0025, 0.0050};
  return kTargets[class_index(duration)];
}

std::optional<Bound> bound_of(const BenchmarkSeries& series) {
  const auto flops = series.counters.find("flops");
  const auto bytes = series.counters.find("min_bytes");
  if (flops == series.counters.end() || bytes == series.counters.end()) return std::nullopt;
  const double intensity = flops->second / bytes->second;
  if (!std::isfinite(intensity)) return std::nullopt;
  return intensity >= kComputeBoundFlopsPerByte ? Bound::kCompute : Bound::kMemory;
}

}  // namespace fusegate::baselines
