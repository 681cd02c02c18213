// A problem: the number format and the sizes that an operation is computed for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::kernels {

enum class Dtype { kFp32, kFp16, kBf16, kFp8E4m3, kFp8E5m2, kInt8, kInt32 };

std::string_view dtype_name(Dtype dtype);  // "fp32", "fp16", "bf16", "fp8_e4m3", ..., "int32"
std::optional<Dtype> parse_dtype(std::string_view name);
std::vector<Dtype> all_dtypes();
std::size_t dtype_bytes(Dtype dtype);
bool is_integer(Dtype dtype);

// The largest size of an axis.
inline constexpr std::int64_t kLargestAxis = std::int64_t{1} << 24;

struct Axis {
  std::string name;  // such as "heads"
  std::int64_t size = 1;

  friend bool operator==(const Axis&, const Axis&) = default;
};

struct Problem {
  Dtype dtype = Dtype::kFp32;  // of every tensor without one of its own
  std::vector<Axis> axes;      // in the order of the operation's axes

  // Throws std::out_of_range, which lists the axes.
  std::int64_t at(std::string_view axis) const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "bf16/heads:16/kv:4096"
std::string problem_name(const Problem& problem);

}  // namespace fusegate::kernels
