#include "kernels/contract/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace fusegate::kernels {
namespace {

struct DtypeFacts {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array kDtypes{
    DtypeFacts{Dtype::kFp64, "fp64", 8},        DtypeFacts{Dtype::kFp32, "fp32", 4},
    DtypeFacts{Dtype::kFp16, "fp16", 2},        DtypeFacts{Dtype::kBf16, "bf16", 2},
    DtypeFacts{Dtype::kFp8E4m3, "fp8_e4m3", 1}, DtypeFacts{Dtype::kFp8E5m2, "fp8_e5m2", 1},
    DtypeFacts{Dtype::kInt64, "int64", 8},      DtypeFacts{Dtype::kInt32, "int32", 4},
    DtypeFacts{Dtype::kInt16, "int16", 2},      DtypeFacts{Dtype::kInt8, "int8", 1},
    DtypeFacts{Dtype::kUint8, "uint8", 1},
};

const DtypeFacts& facts(Dtype dtype) {
  return *std::ranges::find(kDtypes, dtype, &DtypeFacts::dtype);
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return facts(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  const auto* const found = std::ranges::find(kDtypes, name, &DtypeFacts::name);
  return found == kDtypes.end() ? std::nullopt : std::optional(found->dtype);
}

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> dtypes;
  for (const DtypeFacts& one : kDtypes) dtypes.push_back(one.dtype);
  return dtypes;
}

std::size_t dtype_bytes(Dtype dtype) { return facts(dtype).bytes; }

bool is_integer(Dtype dtype) { return dtype >= Dtype::kInt64; }

std::int64_t Problem::at(std::string_view axis) const {
  const auto found = std::ranges::find(axes, axis, &Axis::name);
  if (found != axes.end()) {
    if (found->text.empty()) return found->size;
    throw std::out_of_range(fmt::format("axis '{}' is {}; expected a size", axis, found->text));
  }
  std::string known;
  for (const Axis& one : axes) known += (known.empty() ? "" : ", ") + one.name;
  throw std::out_of_range(
      fmt::format("no axis '{}'; the problem has {}", axis, known.empty() ? "none" : known));
}

std::optional<std::int64_t> ranks_of(const Problem& problem) {
  const auto found = std::ranges::find(problem.axes, kRanksAxis, &Axis::name);
  if (found == problem.axes.end()) return std::nullopt;
  return problem.at(kRanksAxis);
}

std::string problem_name(const Problem& problem) {
  std::string name(dtype_name(problem.dtype));
  for (const Axis& axis : problem.axes) name += fmt::format("/{}:{}", axis.name, axis.value());
  return name;
}

}  // namespace fusegate::kernels
