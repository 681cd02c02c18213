// What an input is filled with before a kernel is checked or timed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/contract/problem.h"

namespace fusegate::kernels {

struct Tensor;

// Values are rounded to the tensor's dtype, to nearest even; beyond the range of an fp8 to its
// largest number. The same seed gives the same values on every device.
struct Fill {
  enum class Kind { kUniform, kNormal, kConstant, kIntegers, kFunction, kOnDevice };
  // Writes every value, in row-major order, on the host. It may throw: the benchmark fails then.
  using Function =
      std::function<void(const Problem&, std::uint64_t seed, std::span<double> values)>;
  // Writes the input, a tensor on the device, itself.
  using OnDevice = std::function<void(const Problem&, std::uint64_t seed, const Tensor& input)>;

  // In [-scale, scale).
  static Fill uniform(double scale) { return {.kind = Kind::kUniform, .scale = scale}; }
  // In [low, high).
  static Fill uniform(double low, double high) {
    return {.kind = Kind::kUniform, .scale = (high - low) / 2, .center = (low + high) / 2};
  }
  // Within six standard deviations of the mean: the sum of twelve uniform numbers, since a CPU and
  // a GPU round logarithms and cosines differently.
  static Fill normal(double deviation = 1, double mean = 0) {
    return {.kind = Kind::kNormal, .scale = deviation, .center = mean};
  }
  static Fill constant(double value) { return {.kind = Kind::kConstant, .center = value}; }
  // Uniform in [low, high].
  static Fill integers(std::int64_t low, std::int64_t high) {
    return {.kind = Kind::kIntegers, .low = low, .high = high};
  }
  static Fill values(Function function) {
    return {.kind = Kind::kFunction, .function = std::move(function)};
  }
  static Fill on_device(OnDevice function) {
    return {.kind = Kind::kOnDevice, .device_function = std::move(function)};
  }

  Kind kind = Kind::kUniform;
  double scale = 1;   // of kUniform and kNormal
  double center = 0;  // of all but integers
  std::int64_t low = 0, high = 0;
  Function function = {};
  OnDevice device_function = {};
};

}  // namespace fusegate::kernels
