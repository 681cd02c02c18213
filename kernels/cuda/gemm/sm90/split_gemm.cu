#include <stdexcept>
#include <type_traits>

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

// What the host needs to know of a kernel, so that one function launches all of them.
struct BuiltKernel {
  void (*kernel)(sm90::SplitMaps, sm90::OutputRows, int) = nullptr;
  int shared_bytes = 0, splits = 1, rows = 0, columns = 0;
};

template <typename Gemm>
constexpr BuiltKernel kBuilt{.kernel = sm90::split_gemm_kernel<Gemm>,
                             .shared_bytes = Gemm::kSharedBytes,
                             .splits = Gemm::kSplits,
                             .rows = Gemm::Shape::kRows,
                             .columns = Gemm::Shape::kWidth};

std::function<void()> make_launch(CudaDevice& device, const BuiltKernel& of, const Tensor& x,
                                  const Tensor& w, const Tensor& out) {
  LaunchShape shape =
      block_shape(reinterpret_cast<const void*>(of.kernel), of.shared_bytes, of.splits);
  const std::int64_t clusters = ceil_div(out.cols(), of.columns);
  shape.blocks = dim3(static_cast<unsigned>(clusters * shape.cluster),
                      static_cast<unsigned>(ceil_div(out.rows(), of.rows)));
  const sm90::SplitMaps maps{
      .x = make_x_maps(x, of.rows),
      .w = make_stage_map(w, of.columns),
  };
  return launch_of(of.kernel, shape, device.stream(), maps, output_rows(out),
                   static_cast<int>(x.cols()));
}

}  // namespace

std::function<void()> make_split_gemm_sm90(CudaDevice& device, std::size_t shape, const Tensor& x,
                                           const Tensor& w, const Tensor& out) {
  const BuiltKernel* kernel = nullptr;
  dispatch_16_bit(out.dtype, "split_gemm_sm90", [&]<typename T>() {
    dispatch_index<kSplitGemmShapes.size()>(shape, [&]<std::size_t kIndex>() {
      constexpr Dtype kDtype = std::is_same_v<T, __half> ? Dtype::kFp16 : Dtype::kBf16;
      if constexpr (is_built_split_gemm(kIndex, kDtype)) kernel = &kBuilt<GemmOf<T, kIndex>>;
    });
  });
  if (kernel == nullptr) {
    throw std::invalid_argument("split_gemm_sm90: that shape is built for bf16");
  }
  return make_launch(device, *kernel, x, w, out);
}

}  // namespace fusegate::kernels
