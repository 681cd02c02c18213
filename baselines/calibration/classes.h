// How a calibration groups benchmarks by how long a call takes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

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

inline std::size_t class_index(DurationClass duration) {
  return static_cast<std::size_t>(duration);
}

inline double shortest_ns(DurationClass duration) {
  return PerClass<double>{20'000, 3'000, 0}[class_index(duration)];
}
inline DurationClass duration_class(double time_ns) {
  if (time_ns >= shortest_ns(DurationClass::kLong)) return DurationClass::kLong;
  return time_ns >= shortest_ns(DurationClass::kMedium) ? DurationClass::kMedium
                                                        : DurationClass::kShort;
}
// For JSON.
inline std::string_view duration_class_key(DurationClass duration) {
  return PerClass<std::string_view>{"from_20_us", "from_3_to_20_us",
                                    "below_3_us"}[class_index(duration)];
}
// For people.
inline std::string_view duration_class_title(DurationClass duration) {
  return PerClass<std::string_view>{">= 20 us", "3 to 20 us", "< 3 us"}[class_index(duration)];
}

// The spread between processes that a protocol is held to, as a relative standard deviation.
inline double spread_target(DurationClass duration) {
  return PerClass<double>{0.0010, 0.0025, 0.0050}[class_index(duration)];
}

}  // namespace fusegate::baselines
