#include <stdexcept>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/backward_gemm.cuh"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const TileRaster& raster,
                                  const BackwardOperands& o) {
  static_assert(Gemm::Shape::kRows == kBackwardGemmRows);
  const auto kernel = sm90::backward_gemm_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, raster.count());
  const auto parts = [](const Tensor& tensor, std::int64_t stride = 0) {
    return make_tensor_map(tensor, Gemm::Part::kRows, Gemm::Part::kColumns, stride);
  };
  const UnitBackward& unit = o.unit;
  const sm90::BackwardMaps maps{
      .x = make_x_maps(o.dy, Gemm::Shape::kRows),
      .w = make_tensor_map(o.w_down, Gemm::kRowsOfW, Gemm::Shape::kBoxColumns),
      .g = parts(unit.g, unit.in_stride),
      .u = parts(unit.u, unit.in_stride),
      .dg = parts(unit.dg, unit.out_stride),
      .du = parts(unit.du, unit.out_stride),
      .h = parts(unit.h.value()),
  };
  return launch_of(kernel, shape, device.stream(), maps, raster, static_cast<int>(o.dy.rows()),
                   static_cast<int>(o.dy.cols()));
}

}  // namespace

std::function<void()> make_backward_gemm_sm90(CudaDevice& device, const BackwardGemmPlan& plan,
                                              const Activation& activation,
                                              const BackwardOperands& operands) {
  if (operands.dy.dtype != Dtype::kBf16) {
    throw std::invalid_argument("backward_gemm_sm90: it is built for bf16");
  }
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_index<kBackwardRings.size()>(plan.ring, [&]<std::size_t kIndex>() {
      constexpr BackwardRing kRing = kBackwardRings[kIndex];
      using Gemm = sm90::BackwardGemm<Functor, kBackwardGemmCols, kRing.stages,
                                      kBackwardGemmCluster, kRing.part_columns>;
      launch = make_launch<Gemm>(device, plan.raster, operands);
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
