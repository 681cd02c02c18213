#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/wide_gemm_plan.h"
#include "kernels/cuda/ranks/overlapped.h"
#include "kernels/cuda/ranks/wide_exchange.cuh"

namespace fusegate::kernels {
namespace {

// use(Gemm()): of tiles of the plan's width.
template <typename Use>
auto with_gemm(const WideExchangePlan& plan, const Use& use) {
  using Wide = sm90::WideGemm<__nv_bfloat16, kWideGemmCols, kWideGemmStages>;
  using Narrow = sm90::WideGemm<__nv_bfloat16, kNarrowGemmCols, kNarrowGemmStages>;
  static_assert(Wide::kRows == kWideGemmRows && Wide::kCluster == kWideGemmCluster);
  return plan.cols == kNarrowGemmCols ? use(Narrow()) : use(Wide());
}

}  // namespace

int wide_exchange_clusters(const WideExchangePlan& plan) {
  return with_gemm(plan, [&]<typename Gemm>(Gemm) {
    const auto kernel = sm90::wide_exchange_kernel<Gemm>;
    return static_cast<int>(persistent_launch<Gemm>(kernel, plan.raster.count()).blocks.x) /
           Gemm::kCluster;
  });
}

std::function<void()> make_wide_exchange(CudaDevice& device, const WideExchangePlan& plan,
                                         const RankExchange& exchange,
                                         const ExchangeOperands& operands, int clusters,
                                         bool early) {
  return with_gemm(plan, [&]<typename Gemm>(Gemm) {
    const auto kernel = sm90::wide_exchange_kernel<Gemm>;
    LaunchShape shape = persistent_launch<Gemm>(kernel, clusters);
    shape.early = shape.early && early;
    const auto& [x, w, out] = operands;
    const sm90::ExchangeMaps maps{.x = make_stage_map(x, sm90::kTileRows),
                                  .w = make_stage_map(w, Gemm::kColumns / 2)};
    return launch_of(kernel, shape, device.stream(), maps, plan.raster, exchange, output_rows(out),
                     static_cast<int>(x.cols()));
  });
}

}  // namespace fusegate::kernels
