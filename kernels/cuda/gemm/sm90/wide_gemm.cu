#include <algorithm>

#include "kernels/cuda/device/dependent_launch.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/tensor_map.h"
#include "kernels/cuda/gemm/sm90/wide_gemm.cuh"
#include "kernels/cuda/gemm/sm90/wide_gemm.h"

namespace fusegate::kernels {
namespace {

template <typename T>
std::function<void()> make_launch(CudaDevice& device, const WideGemmPlan& plan, const Tensor& x,
                                  const Tensor& w, const Tensor& out) {
  using Gemm = sm90::WideGemm<T, kWideGemmCols, kWideGemmStages>;
  static_assert(Gemm::kRows == kWideGemmRows && Gemm::kCluster == kWideGemmCluster);
  const auto kernel = sm90::wide_gemm_kernel<Gemm>;
  allow_shared_bytes(kernel, Gemm::kSharedBytes);
  LaunchShape shape{.blocks = Gemm::kCluster,
                    .threads = sm90::kBlockThreads,
                    .shared_bytes = Gemm::kSharedBytes,
                    .cluster = Gemm::kCluster,
                    .early = can_launch_early(reinterpret_cast<const void*>(kernel))};
  const int clusters = std::min(plan.raster.count(), resident_clusters(kernel, shape));
  shape.blocks = dim3(static_cast<unsigned>(clusters * Gemm::kCluster));
  const sm90::WideMaps maps{
      .x = make_tensor_map(x, sm90::kTileRows, sm90::kStageColumns),
      .w = make_tensor_map(w, Gemm::kColumns / 2, sm90::kStageColumns),
      .out = make_tensor_map(out, Gemm::Panel::kRows, Gemm::Panel::kPanel),
  };
  return [=, raster = plan.raster, k = static_cast<int>(x.cols()), stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, raster, k);
  };
}

}  // namespace

std::function<void()> make_wide_gemm_sm90(CudaDevice& device, const WideGemmPlan& plan,
                                          const Tensor& x, const Tensor& w, const Tensor& out) {
  return dispatch_16_bit(out.dtype, "wide_gemm_sm90",
                         [&]<typename T>() { return make_launch<T>(device, plan, x, w, out); });
}

}  // namespace fusegate::kernels
