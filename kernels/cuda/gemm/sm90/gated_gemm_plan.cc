#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/check_sizes.h"

namespace fusegate::kernels {
namespace {

// What 16-bit and e4m3 elements differ in.
struct Elements {
  const char* kernel;
  std::span<const GatedTileSm90> tiles;
  int in_16_bits;

  int step() const { return 64 * in_16_bits; }  // of k
};
constexpr Elements kWords{"gated_gemm_sm90", kGatedTilesSm90, 1};
constexpr Elements kE4m3s{"gated_gemm_fp8_sm90", kGatedTilesFp8Sm90, 2};

GatedGemmPlan plan_of(const Elements& elements, const GemmSize& size, const GpuLimits& gpu,
                      std::size_t tile) {
  const std::int64_t alignment = kGemmAlignment * elements.in_16_bits;
  check_sizes(elements.kernel,
              {{"rows", size.m}, {"hidden", size.n, alignment}, {"dim", size.k, alignment}});
  const GatedTileSm90& shape = elements.tiles[tile];
  GatedGemmPlan plan;
  plan.tile = tile;
  const int rows = shape.rows * shape.cluster;
  plan.raster = tiles_of(elements.kernel, size, rows, shape.cols);
  plan.blocks = std::min(plan.raster.count(), std::max(1, gpu.sm_count / shape.cluster));
  plan.raster.group_rows =
      group_rows({size.m, size.n, size.k / elements.in_16_bits},
                 {rows, shape.cols, shape.cluster > 1}, plan.blocks, gpu.l2_bytes);
  plan.waves = static_cast<int>(ceil_div(plan.raster.count(), plan.blocks));
  const std::int64_t stages = ceil_div(size.k, elements.step());
  plan.cost = shape.start_us +
              plan.waves * (static_cast<double>(stages) * shape.stage_us + shape.epilogue_us);
  return plan;
}

std::string text_of(const Elements& elements, const GatedGemmPlan& plan) {
  const GatedTileSm90& shape = elements.tiles[plan.tile];
  const std::string blocks =
      shape.cluster == 1 ? fmt::format("{} blocks", plan.blocks)
                         : fmt::format("{} clusters of {} blocks", plan.blocks, shape.cluster);
  return fmt::format("tile {} x ({} + {}) x {}, {} stages{}, {}, {} waves", shape.rows, shape.cols,
                     shape.cols, elements.step(), shape.stages,
                     shape.promotes   ? ", promoted"
                     : shape.pingpong ? ", in turn"
                                      : "",
                     blocks, plan.waves);
}

}  // namespace

GatedGemmPlan plan_gated_gemm_sm90(const GemmSize& size, const GpuLimits& gpu, std::size_t tile) {
  return plan_of(kWords, size, gpu, tile);
}

GatedGemmPlan plan_gated_gemm_fp8_sm90(const GemmSize& size, const GpuLimits& gpu,
                                       std::size_t tile) {
  return plan_of(kE4m3s, size, gpu, tile);
}

std::vector<GatedGemmPlan> gated_gemm_plans_sm90(const GemmSize& size, const GpuLimits& gpu) {
  // For errors of the fitted costs, and since a kernel that is slower alone may leave SMs to the
  // next one (docs/evidence/fused-products.md).
  constexpr double kWorthMeasuring = 1.2;
  std::vector<GatedGemmPlan> plans;
  for (std::size_t tile = 0; tile < kGatedTilesSm90.size(); ++tile) {
    plans.push_back(plan_gated_gemm_sm90(size, gpu, tile));
  }
  return cheapest(std::move(plans), kWorthMeasuring);
}

std::string plan_text_sm90(const GatedGemmPlan& plan) { return text_of(kWords, plan); }
std::string plan_text_fp8_sm90(const GatedGemmPlan& plan) { return text_of(kE4m3s, plan); }

}  // namespace fusegate::kernels
