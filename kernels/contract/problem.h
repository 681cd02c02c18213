// A problem: the sizes and the number format that an operation is computed for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fusegate::kernels {

enum class Dtype { kFp32, kFp16, kBf16 };

std::string_view dtype_name(Dtype dtype);  // "fp32", "fp16", "bf16"
std::optional<Dtype> parse_dtype(std::string_view name);
std::size_t dtype_bytes(Dtype dtype);

struct Problem {
  std::int64_t batch = 1;
  std::int64_t seq = 1;
  std::int64_t dim = 1;     // model width
  std::int64_t hidden = 1;  // width between the projections
  Dtype dtype = Dtype::kFp32;

  // M of every matrix product: one row a token.
  std::int64_t rows() const { return batch * seq; }

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "bf16/batch:64/seq:128/dim:768/hidden:3072"
std::string problem_name(const Problem& problem);

}  // namespace fusegate::kernels
