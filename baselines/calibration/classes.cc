#include "baselines/calibration/classes.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kLongNs = 20'000;
constexpr double kMediumNs = 3'000;
constexpr double kComputeBoundFlopsPerByte = 100;

bool is_parameter(std::string_view part) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return part.find(':') != part.npos || (!part.empty() && std::ranges::all_of(part, is_digit));
}

}  // namespace

DurationClass duration_class(double time_ns) {
  if (time_ns >= kLongNs) return DurationClass::kLong;
  return time_ns >= kMediumNs ? DurationClass::kMedium : DurationClass::kShort;
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

std::string_view family_of(std::string_view benchmark) {
  std::size_t end = benchmark.find('/');
  while (end != benchmark.npos) {
    const std::size_t next = benchmark.find('/', end + 1);
    const auto length = next == benchmark.npos ? next : next - end - 1;
    if (is_parameter(benchmark.substr(end + 1, length))) return benchmark.substr(0, end);
    end = next;
  }
  return benchmark;
}

}  // namespace fusegate::baselines
