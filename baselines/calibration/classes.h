// How a calibration groups benchmarks: by how long a call takes, by what bounds it, and by whose
// code it runs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "baselines/record/run.h"

namespace fusegate::baselines {

// Kernels of another length spread by another size: between paced processes on an H200, pointwise
// ones by 0.02 % at 36 us and by 0.5 % at 1.2 us (standard deviations of time).
enum class DurationClass {
  kLong,    // 20 us and more
  kMedium,  // from 3 us to below 20 us
  kShort,   // below 3 us
};

inline constexpr std::array kDurationClasses{DurationClass::kLong, DurationClass::kMedium,
                                             DurationClass::kShort};
// One value a class, in the order of kDurationClasses.
template <typename T>
using PerClass = std::array<T, kDurationClasses.size()>;

DurationClass duration_class(double time_ns);
double shortest_ns(DurationClass duration);
inline std::size_t class_index(DurationClass duration) {
  return static_cast<std::size_t>(duration);
}
std::string_view duration_class_key(DurationClass duration);    // "from_20_us", for JSON
std::string_view duration_class_title(DurationClass duration);  // ">= 20 us", for people

// The spread between processes that a protocol is held to, as a relative standard deviation.
double spread_target(DurationClass duration);

enum class Bound { kCompute, kMemory };

// By arithmetic intensity: 100 FLOP a byte and more counts as compute-bound, which is somewhat
// below where an H200 balances (690 to 790 TFLOP/s over 4.32 TB/s as measured: 160 to 180). Nothing
// where the counters flops and min_bytes are missing.
std::optional<Bound> bound_of(const BenchmarkSeries& series);

}  // namespace fusegate::baselines
