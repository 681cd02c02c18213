#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/split_gemm.cuh"

namespace fusegate::kernels {
namespace {

static_assert(kSplitGemmStep == sm90::kStageColumns<__half>);

template <typename T, std::size_t kIndex>
using GemmOf =
    sm90::SplitGemm<sm90::TileShape<T, kSplitGemmShapes[kIndex].cols,
                                    kSplitGemmShapes[kIndex].stages, kSplitGemmShapes[kIndex].rows>,
                    kSplitGemmShapes[kIndex].splits>;

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const Tensor& x, const Tensor& w,
                                  const Tensor& out) {
  constexpr int kCols = Gemm::Shape::kWidth;
  const auto kernel = sm90::split_gemm_kernel<Gemm>;
  LaunchShape shape = block_shape<Gemm>(kernel, Gemm::kSplits);
  shape.blocks = dim3(static_cast<unsigned>(ceil_div(out.cols(), kCols) * Gemm::kSplits),
                      static_cast<unsigned>(ceil_div(out.rows(), Gemm::Shape::kRows)));
  const sm90::SplitMaps maps{
      .x = make_x_maps(x, Gemm::Shape::kRows),
      .w = make_stage_map(w, kCols),
  };
  return launch_of(kernel, shape, device.stream(), maps, output_rows(out),
                   static_cast<int>(x.cols()));
}

}  // namespace

std::function<void()> make_split_gemm_sm90(CudaDevice& device, std::size_t shape, const Tensor& x,
                                           const Tensor& w, const Tensor& out) {
  std::function<void()> launch;
  dispatch_16_bit(out.dtype, "split_gemm_sm90", [&]<typename T>() {
    dispatch_index<kSplitGemmShapes.size()>(shape, [&]<std::size_t kIndex>() {
      launch = make_launch<GemmOf<T, kIndex>>(device, x, w, out);
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
