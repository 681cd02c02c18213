// A problem: the number format and the sizes that an operation is computed for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::kernels {

enum class Dtype {
  kFp64,
  kFp32,
  kFp16,
  kBf16,
  kFp8E4m3,
  kFp8E5m2,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8
};

std::string_view dtype_name(Dtype dtype);  // a literal: "fp32", "bf16", "fp8_e4m3", ..., "int32"
std::optional<Dtype> parse_dtype(std::string_view name);
std::vector<Dtype> all_dtypes();
std::size_t dtype_bytes(Dtype dtype);
bool is_integer(Dtype dtype);

// The largest size of an axis.
inline constexpr std::int64_t kLargestAxis = std::int64_t{1} << 24;

// Most values are sizes. Others are a fraction, "true" or "false", or a name, such as "gelu".
struct Axis {
  std::string name;       // such as "heads"
  std::int64_t size = 1;  // 0 where the value is no size
  std::string text = {};  // "" where it is one

  // As benchmark names have it.
  std::string value() const { return text.empty() ? std::to_string(size) : text; }

  friend bool operator==(const Axis&, const Axis&) = default;
};

struct Problem {
  Dtype dtype = Dtype::kFp32;  // of every tensor without one of its own
  std::vector<Axis> axes;      // in the order of the operation's axes

  // Its size. Throws std::out_of_range, which lists the axes, and for a value that is no size.
  std::int64_t at(std::string_view axis) const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// Over how many ranks an operation with this axis is computed (ranks.h).
inline constexpr const char* kRanksAxis = "ranks";
std::optional<std::int64_t> ranks_of(const Problem& problem);  // nothing without that axis

// "bf16/heads:16/kv:4096"
std::string problem_name(const Problem& problem);

}  // namespace fusegate::kernels
