#include "kernels/cuda/gemm/sm90/swapped_split.cuh"

#include "kernels/contract/ceil_div.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace {

template <typename T, std::size_t kIndex>
using GemmOf = sm90::SwappedSplit<T, kSwappedSplitShapes[kIndex].rows,
                                  kSwappedSplitShapes[kIndex].splits,
                                  kSwappedSplitShapes[kIndex].stages>;

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const Tensor& x, const Tensor& w,
                                  const Tensor& out) {
  static_assert(Gemm::kColumns == kSwappedSplitColumns);
  const auto kernel = sm90::swapped_split_kernel<Gemm>;
  LaunchShape shape = block_shape<Gemm>(kernel, Gemm::kSplits);
  shape.blocks = dim3(static_cast<unsigned>(ceil_div(out.cols(), Gemm::kColumns) * Gemm::kSplits),
                      static_cast<unsigned>(ceil_div(out.rows(), Gemm::kRows)));
  const sm90::SwappedMaps maps{
      .x = make_tensor_map(x, Gemm::kRows, sm90::kStageColumns),
      .weights = make_tensor_map(w, Gemm::kColumns, sm90::kStageColumns),
      .h = {},
  };
  return [=, to = output_rows(out), k = static_cast<int>(x.cols()), stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, to, k);
  };
}

}  // namespace

std::function<void()> make_swapped_split_sm90(CudaDevice& device, std::size_t shape,
                                              const Tensor& x, const Tensor& w,
                                              const Tensor& out) {
  std::function<void()> launch;
  dispatch_16_bit(out.dtype, "swapped_split_sm90", [&]<typename T>() {
    dispatch_index<kSwappedSplitShapes.size()>(shape, [&]<std::size_t kIndex>() {
      launch = make_launch<GemmOf<T, kIndex>>(device, x, w, out);
    });
  });
  return launch;
}

}  // namespace fusegate::kernels
