#include "kernels/contract/problem.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace fusegate::kernels {
namespace {

constexpr std::array<std::pair<Dtype, std::string_view>, 3> kDtypeNames{{
    {Dtype::kFp32, "fp32"},
    {Dtype::kFp16, "fp16"},
    {Dtype::kBf16, "bf16"},
}};

}  // namespace

std::string_view dtype_name(Dtype dtype) {
  for (const auto& [value, name] : kDtypeNames) {
    if (value == dtype) return name;
  }
  return "unknown";
}

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (const auto& [value, known] : kDtypeNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::size_t dtype_bytes(Dtype dtype) { return dtype == Dtype::kFp32 ? 4 : 2; }

std::string problem_name(const Problem& problem) {
  return fmt::format("{}/batch:{}/seq:{}/dim:{}/hidden:{}", dtype_name(problem.dtype),
                     problem.batch, problem.seq, problem.dim, problem.hidden);
}

}  // namespace fusegate::kernels
