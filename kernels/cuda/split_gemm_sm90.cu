#include <stdexcept>

#include "kernels/cuda/dependent_launch.h"
#include "kernels/cuda/sm90/split_gemm.cuh"
#include "kernels/cuda/split_gemm_sm90.h"
#include "kernels/cuda/tensor_map.h"

namespace fusegate {
namespace {

constexpr int kColumns = 32, kStages = 6, kSplits = 4;

int rounded_up_quotient(std::int64_t a, int b) { return static_cast<int>((a + b - 1) / b); }

template <typename T>
std::function<void()> make_launch(CudaDevice& device, const Tensor& x, const Tensor& w,
                                  const Tensor& out) {
  using Gemm = sm90::SplitGemm<sm90::TileShape<T, kColumns, kStages>, kSplits>;
  const auto kernel = sm90::split_gemm_kernel<Gemm>;
  allow_shared_bytes(kernel, Gemm::kSharedBytes);
  const LaunchShape shape{
      .blocks = dim3(static_cast<unsigned>(rounded_up_quotient(out.cols, kColumns) * kSplits),
                     static_cast<unsigned>(rounded_up_quotient(out.rows, sm90::kTileRows))),
      .threads = sm90::kBlockThreads,
      .shared_bytes = Gemm::kSharedBytes,
      .cluster = kSplits,
      .early = can_launch_early(reinterpret_cast<const void*>(kernel))};
  const sm90::SplitMaps maps{
      .x = make_tensor_map(x, sm90::kTileRows, sm90::kStageColumns),
      .w = make_tensor_map(w, kColumns, sm90::kStageColumns),
  };
  const sm90::SplitSizes sizes{static_cast<int>(out.rows), static_cast<int>(out.cols),
                               static_cast<int>(x.cols)};
  return [=, stream = device.stream()] {
    launch_kernel(kernel, shape, stream, maps, sizes, static_cast<T*>(out.data));
  };
}

}  // namespace

bool split_gemm_sm90_pays(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
  const bool every_block_has_work = k >= std::int64_t{kSplits} * sm90::kStageColumns;
  return m <= sm90::kTileRows && every_block_has_work &&
         rounded_up_quotient(n, kColumns) * kSplits <= sm_count;
}

std::function<void()> make_split_gemm_sm90(CudaDevice& device, const Tensor& x, const Tensor& w,
                                           const Tensor& out) {
  switch (out.dtype) {
    case Dtype::kBf16:
      return make_launch<__nv_bfloat16>(device, x, w, out);
    case Dtype::kFp16:
      return make_launch<__half>(device, x, w, out);
    case Dtype::kFp32:
      break;
  }
  throw std::invalid_argument("split_gemm_sm90: has no fp32 version");
}

}  // namespace fusegate
