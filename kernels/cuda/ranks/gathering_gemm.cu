#include "kernels/activations/activations.h"
#include "kernels/cuda/gemm/sm90/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/ranks/gathering_gemm.cuh"
#include "kernels/cuda/ranks/overlapped.h"

namespace fusegate::kernels {
namespace {

constexpr GatedTileSm90 kTile = kGatedTilesSm90[kGatheringTile];
static_assert(kTile.rows * kTile.cluster == kOverlappedRows && !kTile.pingpong);

template <typename Functor>
using GemmOf = sm90::GatheringGemm<
    sm90::GatedGemm<__nv_bfloat16, Functor, kTile.cols, kTile.stages, kTile.cluster, kTile.rows>>;

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const GatheringPlan& plan,
                                  const RankExchange& exchange, const GatedOperands& o) {
  const auto kernel = sm90::gathering_gemm_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, plan.raster.count());
  const Tensor gathered{exchange.gathered(exchange.rank), {o.h.rows(), o.x.cols()}, o.x.dtype};
  const sm90::GatedMaps maps{
      .x = {.whole = make_stage_map(gathered, Gemm::Shape::kRows),
            .last = make_stage_map(o.x, Gemm::Shape::kRows)},
      .w_gate = make_stage_map(o.w_gate, Gemm::kColumns),
      .w_up = make_stage_map(o.w_up, Gemm::kColumns),
      .h = make_tensor_map(o.h, Gemm::Output::kRows, Gemm::Output::kPanel),
  };
  static_assert(Gemm::kPieces == 1);
  return launch_of(kernel, shape, device.stream(), maps, plan.raster, exchange, output_rows(o.h),
                   static_cast<int>(o.x.cols()), plan.chunk_rows);
}

}  // namespace

std::function<void()> make_gathering_gemm(CudaDevice& device, const GatheringPlan& plan,
                                          const Activation& activation,
                                          const RankExchange& exchange,
                                          const GatedOperands& operands) {
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    launch = make_launch<GemmOf<Functor>>(device, plan, exchange, operands);
  });
  return launch;
}

}  // namespace fusegate::kernels
