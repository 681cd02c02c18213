#include "kernels/cuda/gemm/sm90/split_gemm_plan.h"

#include <fmt/format.h>

#include <cstdint>

#include "kernels/contract/ceil_div.h"

namespace fusegate::kernels {
namespace {

bool fits(const SplitGemmShape& shape, const GemmSize& size, const GpuLimits& gpu) {
  const std::int64_t tiles = ceil_div(size.m, shape.rows) * ceil_div(size.n, shape.cols);
  return tiles * shape.splits <= gpu.sm_count && ceil_div(size.k, kSplitGemmStep) >= shape.splits;
}

}  // namespace

std::vector<std::size_t> split_gemm_shapes(const GemmSize& size, Dtype dtype,
                                           const GpuLimits& gpu) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < kSplitGemmShapes.size(); ++i) {
    const SplitGemmShape& shape = kSplitGemmShapes[i];
    if (is_built_split_gemm(i, dtype) && fits(shape, size, gpu)) fitting.push_back(i);
  }
  return fitting;
}

std::string split_gemm_text(std::size_t shape) {
  const SplitGemmShape& of = kSplitGemmShapes.at(shape);
  const std::string tiles = fmt::format("split_gemm_sm90: tiles of {} x {}", of.rows, of.cols);
  return tiles + (of.splits > 1 ? fmt::format(", k over {} blocks", of.splits) : "");
}

}  // namespace fusegate::kernels
